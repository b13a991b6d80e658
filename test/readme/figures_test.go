//go:build unix

package readme

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A figure is a row of the benchmark's table: what was measured, and of whom.
type figure struct{ what, of string }

// TestFigures: README's figures are those that the benchmark's page has: in its tables of what and
// of whom, and in that of the NFS lab, whose columns are versions.
func TestFigures(t *testing.T) {
	measured := map[figure]string{}
	what := ""
	var columns []string
	for _, row := range rows(read(t, "test/bench/README.md")) {
		switch row[0] {
		case "figure":
			columns = row
		case "":
			row[0] = what
		}
		what = row[0]
		if len(columns) > 1 && columns[1] == "of" {
			measured[figure{what, row[1]}] = row[2]
			continue
		}
		for i, value := range row[1:] {
			measured[figure{what, columns[i+1]}] = value
		}
	}
	lab := map[string]string{ // what comes closest to a row: an increment need not be a hand-off
		"hand-offs a second, 8 processes, each time a command": "increments a second, 8 processes on 3 hosts, each increment a command",
		"ms from release to the next OK, p50":                  "ms from release on one host to OK on another",
	}
	_, section, _ := strings.Cut(read(t, "README.md"), "## Speed\n")
	table := rows(section)
	if len(table) != 7 { // columns, a line and rows
		t.Fatalf("%d rows of figures", len(table))
	}
	for _, row := range table[2:] {
		for i, value := range row[1:] {
			of, _, _ := strings.Cut(table[0][i+1], " (")
			f := figure{row[0], of}
			if of == "NFSv4.2" {
				f.what, value = lab[f.what], strings.TrimSuffix(value, " at most")
			}
			if measured[f] != value {
				t.Errorf("%v: %q; measured was %q", f, value, measured[f])
			}
		}
	}
}

// TestLengths: README says how many lines the shortest parents are, without comments.
func TestLengths(t *testing.T) {
	page := strings.Join(strings.Fields(read(t, "README.md")), " ")
	lines := map[string]int{}
	for file, text := range examples(t) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#include") {
				lines[filepath.Ext(file)+strings.Repeat("+", strings.Count(file, "clients"))]++
			}
		}
	}
	want := fmt.Sprintf("%d lines in Perl and Tcl, %d in sh, %d in Python, %d in Node.js and %d in C",
		lines[".pl"], lines[".sh"], lines[".py"], lines[".js"], lines[".c"])
	if lines[".pl"] != lines[".tcl"] || !strings.Contains(page, want) {
		t.Errorf("README does not say %q (%v)", want, lines)
	}
}

// rows are the cells of the rows of a page's tables.
func rows(page string) (all [][]string) {
	for line := range strings.Lines(page) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) > 4 {
			for i, cell := range cells {
				cells[i] = strings.TrimSpace(cell)
			}
			all = append(all, slices.Clone(cells[1:len(cells)-1]))
		}
	}
	return all
}

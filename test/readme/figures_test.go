package readme

import (
	"slices"
	"strings"
	"testing"
)

// A figure is a row of the benchmark's table: what was measured, and of whom.
type figure struct{ what, of string }

// TestFigures: README's figures are those that the benchmark has written.
func TestFigures(t *testing.T) {
	measured := map[figure]string{}
	what := ""
	for _, row := range rows(read(t, "test/bench/README.md")) {
		if row[0] != "" {
			what = row[0]
		}
		measured[figure{what, row[1]}] = row[2]
	}
	_, section, _ := strings.Cut(read(t, "README.md"), "## Speed\n")
	table := rows(section)
	if len(table) != 6 { // columns, a line and rows
		t.Fatalf("%d rows of figures", len(table))
	}
	for _, row := range table[2:] {
		for i, value := range row[1:] {
			if f := (figure{row[0], table[0][i+1]}); measured[f] != value {
				t.Errorf("%v: %q; measured was %q", f, value, measured[f])
			}
		}
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

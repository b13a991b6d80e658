//go:build linux && amd64

package crash

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const pageName = "CRASHES.md"

// A section of the page is what one test has found.
type section struct {
	title  string
	text   string
	head   []string
	judged string // says which cells are compared with the page, and when
	keys   int    // how many columns identify a row
	rows   [][]string
	always bool // all of it was done, so a row of the page that is not in it is wrong
}

// publish writes the section, or checks that the page says the same.
func (s *section) publish(t *testing.T) {
	t.Helper()
	if t.Failed() || testing.Short() { // nothing was tried
		return
	}
	text, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	before, old, after := cutSection(string(text), s.title)
	if *update {
		if slices.ContainsFunc(s.rows, func(row []string) bool { return slices.Contains(row, "") }) {
			t.Fatal("not all cells were filled in, so the page stays as it is")
		}
		if err := os.WriteFile(pageName, []byte(before+s.String()+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	s.compare(t, parseRows(old, s.keys))
	s.introduce(t, old)
}

// introduce checks that before the table the page says what the test does and when the table was
// measured.
func (s *section) introduce(t *testing.T, page string) {
	t.Helper()
	said, _, _ := strings.Cut(page, "\n| ")
	for _, text := range []string{s.text, s.judged} {
		if !strings.Contains(said, text) {
			t.Errorf("%s does not say of %q: %s", pageName, s.title, text)
		}
	}
	when := written.FindStringSubmatch(said)
	if when == nil {
		t.Fatalf("%s does not say when %q was measured, and by what", pageName, s.title)
	}
	if _, err := time.Parse("2 January 2006", when[1]); err != nil {
		t.Errorf("%s: the time at which %q was measured cannot be read: %v", pageName, s.title, err)
	}
}

// cutSection finds a section by its title.
func cutSection(text, title string) (before, section, after string) {
	title = "## " + title + "\n"
	start := strings.Index(text, title)
	if start < 0 {
		return strings.TrimRight(text, "\n") + "\n\n", "", ""
	}
	rest := text[start+len(title):]
	end := strings.Index(rest, "\n## ")
	if end < 0 {
		return text[:start], text[start:], ""
	}
	return text[:start], text[start : start+len(title)+end], rest[end:]
}

// written matches the line that says when a section was measured.
var written = regexp.MustCompile(`(?m)^Last written on (\d{1,2} \w+ \d{4}) by `)

func (s *section) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\nLast written on %s by `go test -timeout 2h ./test/crash -update`.\n%s\n\n", s.title, s.text,
		time.Now().UTC().Format("2 January 2006"), s.judged)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(s.head)
	line(slices.Repeat([]string{"---"}, len(s.head)))
	for _, row := range s.rows {
		line(row)
	}
	return b.String()
}

// parseRows parses a table, by the first columns of its rows.
func parseRows(text string, keys int) map[string][]string {
	all := map[string][]string{}
	for _, cells := range tableRows(text) {
		if len(cells) > keys {
			all[strings.Join(cells[:keys], " ")] = cells[keys:]
		}
	}
	return all
}

// tableRows returns the rows of all tables in a text, with their heads.
func tableRows(text string) [][]string {
	var all [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| ---") {
			all = append(all, strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | "))
		}
	}
	return all
}

// judgedAlways is the text of sections in which no cell takes long.
const judgedAlways = "Every run of the tests judges all of it."

// measured matches what differs from run to run.
var measured = regexp.MustCompile(` \([^()]*\)`)

// compare checks that the page has every row and every outcome that was seen.
func (s *section) compare(t *testing.T, page map[string][]string) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range append([][]string{s.head}, s.rows...) {
		key := strings.Join(row[:s.keys], " ")
		seen[key] = true
		if !s.tells(page[key], row[s.keys:]) {
			t.Errorf("%s has for %s %q, but %q was seen: see its first lines for how to write it anew", pageName, key, page[key], row[s.keys:])
		}
	}
	for key := range page {
		if s.always && !seen[key] {
			t.Errorf("%s has %s, which was not seen", pageName, key)
		}
	}
}

// tells reports whether a row of the page has all outcomes that were seen. An empty cell was not
// tried.
func (s *section) tells(page, seen []string) bool {
	if len(page) != len(seen) {
		return false
	}
	for i, cell := range seen {
		written := strings.Split(measured.ReplaceAllString(page[i], ""), "; ")
		for came := range strings.SplitSeq(measured.ReplaceAllString(cell, ""), "; ") {
			if came != "" && !slices.Contains(written, came) {
				return false
			}
		}
	}
	return true
}

// TestPageSaysWhen: every section says when it was measured.
func TestPageSaysWhen(t *testing.T) {
	text, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	for _, s := range sections {
		if title, _, _ := strings.Cut(s, "\n"); !written.MatchString(s) {
			t.Errorf("%s does not say when %q was measured, and by what", pageName, title)
		}
	}
	if len(sections) != 5 {
		t.Errorf("%d sections", len(sections))
	}
}

// TestEveryCellTells checks that no cell of the page is blank, and that a cell which was not
// measured says why.
func TestEveryCellTells(t *testing.T) {
	text, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	columns := 0
	for line := range strings.Lines(string(text)) {
		rows := tableRows(line)
		if len(rows) == 0 {
			columns = 0
			continue
		}
		row := rows[0]
		if columns == 0 {
			columns = len(row)
		}
		if len(row) != columns {
			t.Errorf("%d cells of %d: %q", len(row), columns, row)
		}
		for _, cell := range row {
			why, absent := strings.CutPrefix(cell, "n/a")
			if cell = strings.Trim(cell, " -"); cell == "" || absent && len(why) < 10 {
				t.Errorf("a cell says nothing: %q", row)
			}
		}
	}
}

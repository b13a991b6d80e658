package lab

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Publish writes what a test measured to a section of a page, in place of what is there; a run may
// have fewer rows of the table than the page, and those that begin with something else stay.
// Without update it makes sure that the page has the same rows, but for their numbers.
func Publish(t testing.TB, page, title, measured string, update bool) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "\n## "+title+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, title)
	}
	old, after, more := strings.Cut(rest, "\n## ")
	if !update {
		there := rows(old)
		for _, row := range rows(measured) {
			if !slices.Contains(there, row) {
				t.Errorf("%s has in %q, with each number as N,\n%s\nbut measured was\n%s", page, title, strings.Join(there, "\n"), row)
			}
		}
		return
	}
	measured = withRows(measured, old)
	whole := before + "\n## " + title + "\n\n" + strings.TrimSpace(measured) + "\n"
	if more {
		whole += "\n## " + after
	}
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withRows adds the rows of an old table that begin with what no new row does.
func withRows(measured, old string) string {
	measured = strings.TrimSpace(measured) + "\n"
	for line := range strings.Lines(old) {
		if first, isRow := firstCell(line); isRow && !slices.ContainsFunc(strings.Split(measured, "\n"), func(row string) bool {
			cell, is := firstCell(row)
			return is && cell == first
		}) {
			measured += strings.TrimSpace(line) + "\n"
		}
	}
	return measured
}

func firstCell(line string) (string, bool) {
	cells := strings.Split(line, "|")
	if len(cells) < 3 {
		return "", false
	}
	return strings.TrimSpace(cells[1]), true
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// rows returns the rows of the tables in a text, with each number as N.
func rows(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			all = append(all, number.ReplaceAllString(strings.TrimSpace(line), "N"))
		}
	}
	return all
}

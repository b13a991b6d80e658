//go:build linux

package nfslab

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab/mishaps"
)

// A crashCell is a cell of test/crash's matrix: what came of a mishap at a moment.
type crashCell struct {
	What   string `json:"what"`
	Lock   string `json:"lock"`
	Moment string `json:"moment"`
	Seen   string `json:"seen"`
}

var cellLine = regexp.MustCompile(`(?m)^.* cell: (\{.*\})$`)

// keepCells adds the cells that a guest has measured to the file that LOCKSMITH_CELLS
// names, as lines of JSON. Without one it makes sure that test/crash's page says the same.
func keepCells(t *testing.T, out string) {
	t.Helper()
	found := cellLine.FindAllStringSubmatch(out, -1)
	name := os.Getenv("LOCKSMITH_CELLS")
	if name == "" {
		for _, m := range found {
			mustBeOnPage(t, m[1])
		}
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, m := range found {
		if _, err := f.WriteString(m[1] + "\n"); err != nil {
			t.Fatal(err)
		}
	}
}

const crashPage = "../crash/CRASHES.md"

// mustBeOnPage makes sure that the page says what a cell is, but for times.
func mustBeOnPage(t *testing.T, text string) {
	t.Helper()
	var c crashCell
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(crashPage)
	if err != nil {
		t.Fatal(err)
	}
	row := "| " + c.What + " | `" + c.Lock + "` | "
	_, rest, found := strings.Cut(string(page), "\n"+row)
	line, _, _ := strings.Cut(rest, " |\n")
	written, at := strings.Split(line, " | "), slices.Index(mishaps.Moments, c.Moment)
	if !found || len(written) != len(mishaps.Moments) || mishaps.Timeless(written[at]) != mishaps.Timeless(c.Seen) {
		t.Errorf("%s has for %s%q, but %s, %q was seen: see package crash for how to write it anew", crashPage, row, written, c.Moment, c.Seen)
	}
}

//go:build linux

package storages

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	page  = "../../backends/STORAGES.md"
	works = "holds"
	// unmeasured is in the cells of a storage that could not be measured.
	unmeasured = "could not be measured"
)

// An outcome is what came of a kind of lock on a storage.
type outcome struct {
	Kind  string `json:"kind"`
	What  string `json:"what"` // works, or why not
	Holds int    `json:"holds"`
	Kills int    `json:"kills"`
	// Reaped counts the empty directories that an operator had to remove.
	Reaped int `json:"reaped"`
}

func (o outcome) String() string {
	if o.Holds == 0 {
		return o.What
	}
	reaped := ""
	if o.Reaped > 0 {
		reaped = fmt.Sprintf(", %d reaped", o.Reaped)
	}
	return fmt.Sprintf("%s (%d, %d kills%s)", o.What, o.Holds, o.Kills, reaped)
}

func (c *contest) outcome() outcome {
	o := outcome{Kind: c.kind.String(), What: works, Holds: c.holds, Kills: c.kills, Reaped: c.reaps}
	switch {
	case len(c.refusals) > 0:
		o.What = "refused: " + brief(c.refusals[0])
	case len(c.failures) > 0:
		word, _, _ := strings.Cut(c.failures[0], ":")
		o.What = "**fails**: " + word
	}
	return o
}

// reasons are, in short, what locksmith says about a storage that it refuses.
var reasons = map[string]string{
	"may be shared between machines": "other machines may use it",
	"no symbolic links":              "no symbolic links",
	"hard link":                      "no hard links",
	"no client of SMB does it":       "cannot be opened by a second name",
	"filled later":                   "symbolic links are files",
	"does not see what other hosts":  "does not see other hosts",
	"read generation: operation not": "symbolic links cannot be read",
	"another number under":           "a second name has another file number",
}

// brief is "" for what is none.
func brief(said string) string {
	for text, short := range reasons {
		if strings.Contains(said, text) {
			return short
		}
	}
	return ""
}

func tell(t *testing.T, o outcome) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("outcome: %s", text)
}

var outcomeLine = regexp.MustCompile(`(?m)^.* outcome: (\{.*\})$`)

// TestPage: the page has all storages, as they are measured, in their order.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| --- |")
	_, table, _ = strings.Cut(table, "\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != len(storages) {
		t.Errorf("%s has %d rows, there are %d storages", page, len(rows), len(storages))
	}
	for i, row := range rows[:min(len(rows), len(storages))] {
		if head := "| " + strings.Join(storages[i].head(), " | ") + " | "; !strings.HasPrefix(row, head) {
			t.Errorf("%s has\n%s\nwhere a row should begin\n%s", page, row, head)
		}
		if n := strings.Count(row, unmeasured); n != 0 && n != len(kinds) || n != 0 != (storages[i].cannot != "") {
			t.Errorf("%s says of %d kinds that they %s:\n%s", page, n, unmeasured, row)
		}
	}
}

// head returns the cells with which a storage's row begins.
func (s storage) head() []string {
	return []string{s.name, code(s.server), code(s.fs), code(s.options)}
}

// publish writes a row of the page, or makes sure that the page says the same, except for
// numbers.
func (s storage) publish(t *testing.T, said string) {
	t.Helper()
	cells := s.head()
	for _, m := range outcomeLine.FindAllStringSubmatch(said, -1) {
		var o outcome
		if err := json.Unmarshal([]byte(m[1]), &o); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, o.String())
	}
	if len(cells) != 4+len(kinds) {
		t.Fatalf("outcomes: %q", cells)
	}
	if *update && t.Failed() {
		t.Fatal("the page stays as it is")
	}
	pageLock.Lock()
	defer pageLock.Unlock()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+s.name+" | ") })
	row := "| " + strings.Join(append(cells, time.Now().Format("2006-01-02")), " | ") + " |"
	switch {
	case at < 0:
		t.Errorf("%s has no row for %s: %s", page, s.name, row)
	case *update:
		lines[at] = row
		if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	case timeless(lines[at]) != timeless(row):
		t.Errorf("%s has\n%s\nbut this was measured:\n%s", page, lines[at], row)
	}
}

// pageLock is for storages that are measured side by side.
var pageLock sync.Mutex

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// chance matches what may differ in another run: numbers, and what fails first of a lock that
// fails.
var chance = regexp.MustCompile(` \(\d+, \d+ kills(, \d+ reaped)?\)| \d{4}-\d\d-\d\d |(\*\*fails\*\*): [a-z ]*[a-z]`)

func timeless(row string) string { return chance.ReplaceAllString(row, "$2") }

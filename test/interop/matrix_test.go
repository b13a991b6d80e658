package interop

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	byAge  = "a live holder of it must refresh within our `--lease`"
	byPID  = "one machine, one pid namespace: the pid decides"
	hasty  = "**not safe**: it may remove the next one's lock (TestPIDRace)"
	byHand = "its dead one's lock stays until somebody removes it"
)

var pairs = []pair{
	{"link:", "", dotlockfile, byAge},
	{"link:", "", dotlockfileP, hasty},
	{"link:", "?pids=local", dotlockfileP, hasty},
	{"link:", "", lockfileProgs, byAge},
	{"link:", "", lockfileProgsP, hasty},
	{"link:", "", procmail, byAge},
	{"link:", "", flufl, "it breaks our lock when a heartbeat is 2 s late; " + byAge},
	{"link:", "?touch=ahead", flufl, "it waits for our `--lease` after a crash; " + byAge},
	{"link:", "", nfslock, "exclusive only; " + byAge},
	{"link:", "", ln, byAge},
	{"link:", "", noclobber, byAge},
	{"local:", "", pidFile, byPID},
	{"local:", "", noclobber, byPID},
	{"local:", "", ln, byPID},
	{"local:", "", dotlockfile, byHand},
	{"local:", "", dotlockfileP, hasty},
	{"local:", "", procmail, byHand},
	{"local:", "", nfslock, "exclusive only; " + byHand},
	{"mkdir:", "", mkdir, "the age for `reap` must be longer than any job takes"},
	{"mkdir:", "", proper, "our dead one's lock stays until one of us comes"},
}

const heading = `| lock | tool | excludes us | we exclude it | turns in one run, ours/its | we break its dead one's lock | it breaks our dead one's lock | limits |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

// TestMatrix looks at every pair.
func TestMatrix(t *testing.T) {
	t.Parallel()
	rows := make([]string, len(pairs))
	t.Run("cells", func(t *testing.T) {
		for i, p := range pairs {
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, p)
				c.look()
				t.Log(c.line())
				rows[i] = c.row()
			})
		}
	})
	seen := heading + strings.Join(rows, "")
	if *table {
		fmt.Print(seen)
	}
	compare(t, rows)
}

// look fills in the cell.
func (c *cell) look() {
	s := &c.seen
	s.theyExclude = c.theyExclude()
	s.weExclude = c.weExclude()
	s.contended = c.contend()
	s.refresh = c.refresh()
	c.mustBeEmpty()
	s.theirCrash = c.theirCrash()
	s.ourCrash = c.ourCrash()
}

// compare makes sure that README says what was seen. Nothing in the table depends on
// how fast this machine is.
func compare(t *testing.T, rows []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	mustWork(t, err)
	if !strings.Contains(string(text), "\n## Living with other tools\n") {
		t.Log("README has no such table")
		return
	}
	for _, row := range append(rows, heading) {
		if !strings.Contains(string(text), row) {
			t.Errorf("README does not say what was seen (doc.go tells how to get the table):\n%s", row)
		}
	}
}

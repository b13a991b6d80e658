//go:build unix

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
	{"link:", "", lockf, byAge},
	{"link:", "", ln, byAge},
	{"link:", "", noclobber, byAge},
	{"local:", "", pidFile, byPID},
	{"local:", "?pid=binary", binaryPID, hasty},
	{"local:", "", noclobber, byPID},
	{"local:", "", ln, byPID},
	{"local:", "", dotlockfile, byHand},
	{"local:", "", dotlockfileP, hasty},
	{"local:", "", procmail, byHand},
	{"local:", "", nfslock, "exclusive only; " + byHand},
	{"local:", "", lockf, byPID},
	{"mkdir:", "", mkdir, "the age for `reap` must be longer than any job takes"},
	{"mkdir:", "", proper, "our dead one's lock stays until one of us comes"},
}

const heading = `| lock | tool | excludes us | we exclude it | turns in one run, ours/its | we break its dead one's lock | it breaks our dead one's lock | limits |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

// columns are the things to look at. Each says what it saw, or nothing if that is not in the
// table.
var columns = []struct {
	name string
	look func(*cell) string
}{
	{"they exclude us", (*cell).theyExclude},
	{"we exclude them", (*cell).weExclude},
	{"contended", (*cell).contend},
	{"who lives stays", (*cell).stay},
	{"crash of theirs", (*cell).theirCrash},
	{"crash of ours", (*cell).ourCrash},
}

// TestMatrix looks at every pair. Nothing in the table depends on how fast this machine is.
func TestMatrix(t *testing.T) {
	t.Parallel()
	rows := make([]string, len(pairs))
	t.Run("cells", func(t *testing.T) {
		for i, p := range pairs {
			t.Run(p.name(), func(t *testing.T) {
				t.Parallel()
				rows[i] = p.row(t)
				t.Log(rows[i])
			})
		}
	})
	compare(t, rows)
}

// row fills in the row of a pair, all columns at the same time.
func (p pair) row(t *testing.T) string {
	newCell(t, p)
	seen := make([]string, len(columns))
	t.Run("all", func(t *testing.T) {
		for i, column := range columns {
			t.Run(column.name, func(t *testing.T) {
				t.Parallel()
				seen[i] = column.look(newCell(t, p))
			})
		}
	})
	row := "| `" + p.scheme + p.options + "` | " + p.tool.name
	for _, s := range append(seen, p.limit) {
		if s != "" {
			row += " | " + s
		}
	}
	return row + " |\n"
}

// compare makes sure that README has these rows, except those of missing tools, and no others.
func compare(t *testing.T, rows []string) {
	t.Helper()
	if *table {
		fmt.Print(heading + strings.Join(rows, ""))
	}
	text, err := os.ReadFile("README.md")
	mustWork(t, err)
	_, says, found := strings.Cut(string(text), heading)
	says, _, _ = strings.Cut(says, "\n\n")
	if n := strings.Count(says+"\n", "\n"); !found || n != len(rows) {
		t.Errorf("README's table has %d rows, want %d below\n%s", n, len(rows), heading)
	}
	for _, row := range rows {
		if !strings.Contains(says+"\n", row) {
			t.Errorf("README lacks this row, which was seen (doc.go tells how to get the table):\n%s", row)
		}
	}
}

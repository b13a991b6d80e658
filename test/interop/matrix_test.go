package interop

import (
	"fmt"
	"os"
	"slices"
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
	for _, d := range differences(string(text), rows) {
		t.Error(d + "(doc.go tells how to get the table)")
	}
}

// differences are those between the table in a text and the rows that were seen, of which
// those of missing tools are empty.
func differences(text string, rows []string) (all []string) {
	_, table, found := strings.Cut(text, heading)
	if !found {
		return []string{"README has no table with this heading:\n" + heading}
	}
	table, _, _ = strings.Cut(table, "\n\n")
	says := slices.Collect(strings.Lines(table + "\n"))
	if len(says) != len(rows) {
		all = append(all, fmt.Sprintf("README's table has %d rows, want %d\n", len(says), len(rows)))
	}
	for i := range min(len(says), len(rows)) {
		if rows[i] != "" && rows[i] != says[i] {
			all = append(all, "README says:\n"+says[i]+"but this was seen:\n"+rows[i])
		}
	}
	return all
}

// TestDifferences: the table is compared, wherever README has it.
func TestDifferences(t *testing.T) {
	t.Parallel()
	rows := []string{"| `link:` | ln | yes |\n", "| `local:` | ln | yes |\n"}
	text := "# Tools\n\n" + heading + strings.Join(rows, "") + "\nOur own dead one's lock\n"
	for name, c := range map[string]struct {
		text string
		rows []string
		want int
	}{
		"the same":                  {text, rows, 0},
		"without a missing tool's":  {text, []string{rows[0], ""}, 0},
		"another cell":              {strings.Replace(text, "yes", "NO", 1), rows, 1},
		"the other order":           {text, []string{rows[1], rows[0]}, 2},
		"a row that nothing makes":  {text, rows[:1], 1},
		"a row that is not written": {text, append(slices.Clone(rows), rows[0]), 1},
		"no table":                  {"# Tools\n", rows, 1},
		"another heading":           {strings.Replace(text, "tool", "program", 1), rows, 1},
	} {
		if got := differences(c.text, c.rows); len(got) != c.want {
			t.Errorf("%s: %d differences, want %d: %q", name, len(got), c.want, got)
		}
	}
}

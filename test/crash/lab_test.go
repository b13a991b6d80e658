//go:build linux && amd64

package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab/mishaps"
)

// cellsVariable names the file into which test/nfslab writes what it has measured: a line of JSON
// for each cell.
const cellsVariable = "LOCKSMITH_CELLS"

// TestMatrixOverNFS lets test/nfslab measure its part of the page, or takes what test/nfslab has
// measured before. test/nfslab judges its own cells. If nothing was measured, nothing can be
// compared. Then this test only checks that the page has every row and every moment, once for
// each version.
func TestMatrixOverNFS(t *testing.T) {
	page := section{title: "The matrix over NFS", text: labText, judged: judgedInLab, keys: 2,
		head: slices.Concat([]string{"what happens", "lock"}, mishaps.Moments)}
	if *update || os.Getenv(cellsVariable) != "" {
		page.rows = readCells(t, measuredCells(t))
		page.publish(t)
		return
	}
	text, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	_, old, _ := cutSection(string(text), page.title)
	page.introduce(t, old)
	for _, fault := range incomplete(tableRows(old), page.head) {
		t.Error(pageName + fault)
	}
}

// mishapsInLab is how many mishaps test/nfslab knows.
const mishapsInLab = 23

// incomplete says what is missing in the table over NFS.
func incomplete(rows [][]string, head []string) (all []string) {
	if len(rows) == 0 || !slices.Equal(rows[0], head) {
		return []string{": no table with these columns over NFS: " + strings.Join(head, ", ")}
	}
	locks := map[string][]string{} // by what happens
	for _, row := range rows[1:] {
		locks[row[0]] = append(locks[row[0]], row[1])
		if len(row) != len(head) {
			all = append(all, fmt.Sprintf(": %d cells, want %d: %q", len(row), len(head), row))
		}
	}
	for what, has := range locks {
		if !slices.Equal(has, []string{"`nfs: over NFS 3`", "`nfs: over NFS 4.2`"}) {
			all = append(all, fmt.Sprintf(" has %q over %q", what, has))
		}
	}
	if len(locks) != mishapsInLab {
		all = append(all, fmt.Sprintf(" has %d mishaps over NFS, want %d", len(locks), mishapsInLab))
	}
	return all
}

// TestIncomplete: a missing row is noticed, and so is a missing cell.
func TestIncomplete(t *testing.T) {
	head := []string{"what happens", "lock", "now"}
	var rows [][]string
	for i := range mishapsInLab {
		for _, version := range []string{"3", "4.2"} {
			rows = append(rows, []string{fmt.Sprint(i), "`nfs: over NFS " + version + "`", "held on"})
		}
	}
	whole := append([][]string{head}, rows...)
	if all := incomplete(whole, head); len(all) > 0 {
		t.Errorf("all is there: %q", all)
	}
	short := slices.Clone(whole)
	short[1] = short[1][:2]
	for name, rows := range map[string][][]string{
		"nothing": nil, "another head": rows, "a row less": whole[:len(whole)-1], "a mishap less": whole[:len(whole)-2],
		"a row more": append(slices.Clone(whole), rows[0]), "a cell less": short,
	} {
		if len(incomplete(rows, head)) == 0 {
			t.Errorf("%s: nothing is missed", name)
		}
	}
}

// measuredCells returns the name of a file with all cells.
func measuredCells(t *testing.T) string {
	t.Helper()
	if name := os.Getenv(cellsVariable); name != "" {
		return name
	}
	if out, err := exec.Command("../guest/lab.sh", "--check", "../nfslab/guest").CombinedOutput(); err != nil {
		t.Fatalf("no NFS lab here, so the cells over NFS stay as they are: %s(%v)", out, err)
	}
	name := filepath.Join(t.TempDir(), "cells")
	lab := exec.Command("go", "test", "-count=1", "-timeout", "90m", "../nfslab", "-run", "^TestLab$/^v(3|4.2)-ext4$", "-scenarios", "^crashes$")
	lab.Env = append(os.Environ(), cellsVariable+"="+name)
	if out, err := lab.CombinedOutput(); err != nil {
		t.Fatalf("the lab failed, so the cells over NFS stay as they are: %v\n%s", err, out)
	}
	return name
}

// readCells makes a table from the lab's lines.
func readCells(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		var c struct{ What, Lock, Moment, Seen string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("a line of %s cannot be read: %v", name, err)
		}
		at := slices.Index(mishaps.Moments, c.Moment)
		if at < 0 {
			t.Fatalf("%s: no moment %q", name, c.Moment)
		}
		i := rowOf(rows, c.What, "`"+c.Lock+"`")
		if i < 0 {
			i = len(rows)
			rows = append(rows, append([]string{c.What, "`" + c.Lock + "`"}, make([]string, len(mishaps.Moments))...))
		}
		rows[i][2+at] = c.Seen
	}
	return together(rows)
}

// rowOf finds a row by its first columns.
func rowOf(rows [][]string, keys ...string) int {
	return slices.IndexFunc(rows, func(row []string) bool { return slices.Equal(row[:len(keys)], keys) })
}

// together puts the rows of each mishap together, at the place of its first row.
func together(rows [][]string) [][]string {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b []string) int {
		if first := rowOf(rows, a[0]) - rowOf(rows, b[0]); first != 0 {
			return first
		}
		return strings.Compare(a[1], b[1])
	})
	return sorted
}

// TestReadCells: rows of one mishap come together, mishaps keep their order, and later
// measurements count.
func TestReadCells(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cells")
	lines := `{"what":"cut","lock":"v3","moment":"waiting","seen":"a"}
{"what":"fire","lock":"v4","moment":"at OK","seen":"b"}
{"what":"fire","lock":"v3","moment":"releasing","seen":"c"}
{"what":"cut","lock":"v3","moment":"waiting","seen":"d"}
`
	if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"cut", "`v3`", "d", "", "", "", ""}, {"fire", "`v3`", "", "", "", "", "c"}, {"fire", "`v4`", "", "b", "", "", ""}}
	if got := readCells(t, name); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, want %q", got, want)
	}
}

const judgedInLab = "Every run of `test/nfslab` judges some of these cells again, and `test/run --long` all of them; `go\n" +
	"test ./test/crash` only makes sure that no row is missing."

const labText = "The same with a real NFS server, and a host each for the victim, the rival and whoever has the lock\n" +
	"meanwhile, in a user-mode kernel (`test/nfslab`, which measures and judges it). On another host\n" +
	"nobody can prove a death, so the lease decides. The victim is caught at its moments while a request\n" +
	"of its own is under way: the request is held back, and the victim stopped for that instant:\n\n" +
	"- *waiting*: it is in the queue behind whoever has the lock\n" +
	"- *at OK*: the server has made its generation, and the next request is under way. A victim that\n" +
	"  cannot go on then has not said OK, and tries to get the lock until its parent lets go or that\n" +
	"  makes no sense any more\n" +
	"- *holding*: it has said OK to its parent, and sleeps\n" +
	"- *heartbeat*: a heartbeat is under way\n" +
	"- *releasing*: its parent has let go, and the first request is under way: a kill comes too late to\n" +
	"  stop it\n\n" +
	"The cells are judged, too. Never two holders: the rival does not have the lock before the victim's\n" +
	"parent is dead or was told; only a parent that is stopped cannot be told. Never stuck: all waits are\n" +
	"bounded. Never silence. Leases are 8 s; 6 s where something happens to all hosts, 12 s where no lock\n" +
	"is lost, 20 s where a server comes back in time, 4 s where it comes too late. What is back or awake\n" +
	"is so before the test can look: then a cell says 0s. All hosts and the server have one kernel and so\n" +
	"one clock, which is really set there. What hosts with different clocks see is in the lines about\n" +
	"times of files above. To the others, a host that crashes is like one whose cable is cut. After a\n" +
	"reboot the server's grace period, 10 s, is not cut short. It delayed nothing here, because locksmith\n" +
	"opens and locks no file. A suspended kernel is woken from outside.\n"

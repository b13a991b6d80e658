//go:build unix

package interop

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"locksmith/test/lab/holds"
)

type history []holds.Hold

// readHistory reads what the witnesses wrote.
func readHistory(t *testing.T, file string) history {
	t.Helper()
	text, err := os.ReadFile(file)
	mustWork(t, err)
	var h history
	open := map[int]int{} // of h, by pid
	for line := range strings.Lines(string(text)) {
		var word string
		var pid int // of the parent of the witness
		var i holds.Hold
		if _, err := fmt.Sscan(line, &word, &i.Start, &pid, &i.Who); err != nil { // "ours" or "theirs"
			t.Fatalf("%q: %v", line, err)
		}
		switch word {
		case "take":
			open[pid] = len(h)
			h = append(h, i)
		case "give":
			h[open[pid]].End = i.Start
		case "met":
			t.Errorf("%s, pid %d, met another holder under the lock", i.Who, pid)
		}
	}
	return h
}

// check makes sure that no two had the lock at the same time.
func (h history) check(t *testing.T) {
	t.Helper()
	for _, i := range h {
		if i.End <= i.Start {
			t.Errorf("the turn %v has no end: its witness was killed or wrote nothing", i)
		}
	}
	holds.Judge(t, h, false)
}

// turns counts how often somebody had the lock.
func (h history) turns(who string) int {
	n := 0
	for _, i := range h {
		if i.Who == who {
			n++
		}
	}
	return n
}

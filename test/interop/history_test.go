package interop

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// An interval is the time that somebody had the lock for, from after he took it to
// before he let it go, so that it is shorter than the real one.
type interval struct {
	pid        int    // of who ran the witness
	who        string // "ours" or "theirs"
	start, end time.Duration
}

type history []interval

// readHistory reads what witnesses wrote.
func readHistory(t *testing.T, file string) history {
	t.Helper()
	text, err := os.ReadFile(file)
	mustWork(t, err)
	var h history
	open := map[int]int{} // of h, by pid
	for line := range strings.Lines(string(text)) {
		var word string
		var i interval
		if _, err := fmt.Sscan(line, &word, &i.start, &i.pid, &i.who); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch word {
		case "take":
			open[i.pid] = len(h)
			h = append(h, i)
		case "give":
			h[open[i.pid]].end = i.start
		case "met":
			t.Errorf("%s, pid %d, met somebody", i.who, i.pid)
		}
	}
	slices.SortFunc(h, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	return h
}

// check makes sure that nobody had the lock at the same time as another.
func (h history) check(t *testing.T) {
	t.Helper()
	for i, b := range h {
		if b.end <= b.start {
			t.Errorf("%+v has no end", b)
		}
		if i > 0 && b.start < h[i-1].end {
			t.Errorf("two holders:\n  %+v\n  %+v", h[i-1], b)
		}
	}
}

// turns counts how often somebody had the lock.
func (h history) turns(who string) int {
	n := 0
	for _, i := range h {
		if i.who == who {
			n++
		}
	}
	return n
}

package ftplab

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/backends/clock"
)

// A history is the log that witnesses of one lock write.
type history struct{ file string }

func newHistory(t *testing.T) *history {
	return &history{filepath.Join(t.TempDir(), "log")}
}

// killed notes that a helper is about to be killed: what it may do from then on
// counts for nothing.
func (h *history) killed(t *testing.T, helper int) {
	t.Helper()
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "kill %d %d\n", clock.Boot{}.Now(), helper); err != nil {
		t.Fatal(err)
	}
}

// await waits until a helper's witness has begun.
func (h *history) await(t *testing.T, helper int) {
	t.Helper()
	eventually(t, "somebody killed has begun", func() bool {
		text, _ := os.ReadFile(h.file)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 && f[0] == "take" && f[2] == strconv.Itoa(helper) {
				return true
			}
		}
		return false
	})
}

// An interval is the time that somebody had the lock for, from after he took it
// to before he let it go, so that it is shorter than the real one.
type interval struct {
	who        string // the helper's pid, or what a script calls itself
	mode       string
	start, end time.Duration
	token      uint64
}

func (i interval) String() string {
	return fmt.Sprintf("%s, %s, token %d, %.6f..%.6f", i.who, i.mode, i.token, i.start.Seconds(), i.end.Seconds())
}

// A story is a history that was read.
type story struct {
	held  []interval
	kills []time.Duration
	met   []time.Duration
}

// read reads the log, which begins with the first holder.
func (h *history) read(t *testing.T) story {
	t.Helper()
	text, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	var s story
	open := map[string]int{} // of held, by who
	for line := range strings.Lines(string(text)) {
		var word, who, mode string
		var at time.Duration
		var token uint64
		_, _ = fmt.Sscan(line, &word, &at, &who, &mode, &token) // a kill has fewer
		i, holds := open[who]
		switch word {
		case "take":
			open[who] = len(s.held)
			s.held = append(s.held, interval{who, mode, at, 1 << 62, token})
		case "met":
			s.met = append(s.met, at)
		case "kill":
			s.kills = append(s.kills, at)
			open[who] = -1
		}
		if holds && i >= 0 && (word == "give" || word == "kill") {
			s.held[i].end = at
			delete(open, who)
		}
		if holds && i < 0 && word == "take" { // it is dying
			s.held = s.held[:len(s.held)-1]
			open[who] = -1
		}
	}
	slices.SortFunc(s.held, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	return s
}

// check makes sure that nobody had the lock beside one who had it alone, and that
// tokens rise.
func (h *history) check(t *testing.T) story {
	t.Helper()
	s := h.read(t)
	reported := 0
	for i, a := range s.held {
		for _, b := range s.held[i+1:] {
			if fault := conflict(a, b); fault != "" && reported < 10 {
				t.Errorf("%s:\n  %v\n  %v", fault, a, b)
				reported++
			}
		}
	}
	for _, at := range s.met {
		if !slices.ContainsFunc(s.kills, func(kill time.Duration) bool { return kill < at && at < kill+5*time.Second }) {
			t.Errorf("somebody met another one who had not been killed, at %v", at)
		}
	}
	return s
}

// conflict says what is wrong with two holders, the first of which began first.
func conflict(a, b interval) string {
	alone := a.mode != "shared" || b.mode != "shared"
	apart := a.end <= b.start
	switch {
	case alone && !apart:
		return "two holders"
	case a.token == 0 && b.token == 0:
		return ""
	case alone && a.token >= b.token, apart && a.token > b.token:
		return "the token does not rise"
	}
	return ""
}

// together counts the pairs of holders that had the lock at the same time.
func (s story) together() int {
	pairs := 0
	for i, a := range s.held {
		for _, b := range s.held[i+1:] {
			if b.start < a.end {
				pairs++
			}
		}
	}
	return pairs
}

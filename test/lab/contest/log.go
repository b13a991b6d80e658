package contest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

// A Log is what the witnesses of one lock record. It begins with the first holder.
type Log struct{ File string }

// NewLog returns a log that goes away with the test.
func NewLog(t *testing.T) *Log {
	return &Log{filepath.Join(t.TempDir(), "log")}
}

// Killed notes that a helper is about to be killed. From then on nothing that it does counts.
func (l *Log) Killed(t *testing.T, helper int) {
	t.Helper()
	f, err := os.OpenFile(l.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "kill %d %d\n", clock.Boot{}.Now(), helper); err != nil {
		t.Fatal(err)
	}
}

// Await waits until a helper's witness has begun.
func (l *Log) Await(t *testing.T, helper int) {
	t.Helper()
	lab.Eventually(t, "somebody to be killed has begun", func() bool {
		text, _ := os.ReadFile(l.File)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 && f[0] == "take" && f[2] == strconv.Itoa(helper) {
				return true
			}
		}
		return false
	})
}

// A Record is a log that was read. All times are since boot.
type Record struct {
	Held  []holds.Hold
	Kills []time.Duration
	Met   []time.Duration // when one witness met another
}

// Read reads the log.
func (l *Log) Read(t *testing.T) Record {
	t.Helper()
	text, err := os.ReadFile(l.File)
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	var all holds.History
	for line := range strings.Lines(string(text)) {
		var word, who, mode string
		var at time.Duration
		var token uint64
		_, _ = fmt.Sscan(line, &word, &at, &who, &mode, &token) // a line kill has fewer
		switch word {
		case "take":
			all.Take(holds.Hold{Who: who, Shared: mode == shared, Start: at, Token: token})
		case "give":
			all.Give(who, at)
		case "met":
			r.Met = append(r.Met, at)
		case "kill":
			r.Kills = append(r.Kills, at)
			all.Kill(who, at)
		}
	}
	r.Held = all.All()
	return r
}

// Check fails if anybody had the lock beside an exclusive holder. If there are tokens, it also
// fails if they do not rise. A killed helper may be met until the kernel has ended it.
func (l *Log) Check(t *testing.T, tokens bool) Record {
	t.Helper()
	r := l.Read(t)
	holds.Judge(t, slices.Clone(r.Held), tokens) // a copy, because Judge keeps it
	for _, at := range r.Met {
		if !slices.ContainsFunc(r.Kills, func(kill time.Duration) bool { return kill < at && at < kill+20*time.Second }) {
			t.Errorf("somebody met another one who had not been killed, at %v", at)
		}
	}
	return r
}

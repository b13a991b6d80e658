package ftplab

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
	"locksmith/test/lab/holds"
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

// A record is a history that was read.
type record struct {
	held  []holds.Hold
	kills []time.Duration
	met   []time.Duration
}

// read reads the log, which begins with the first holder.
func (h *history) read(t *testing.T) record {
	t.Helper()
	text, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	var s record
	open := map[string]int{} // of held, by who
	for line := range strings.Lines(string(text)) {
		var word, who, mode string
		var at time.Duration
		var token uint64
		_, _ = fmt.Sscan(line, &word, &at, &who, &mode, &token) // a kill has fewer
		i, known := open[who]
		switch word {
		case "take":
			open[who] = len(s.held)
			s.held = append(s.held, holds.Hold{Who: who, Shared: mode == "shared", Start: at, End: 1 << 62, Token: token})
		case "met":
			s.met = append(s.met, at)
		case "kill":
			s.kills = append(s.kills, at)
			open[who] = -1
		}
		if known && i >= 0 && (word == "give" || word == "kill") {
			s.held[i].End = at
			delete(open, who)
		}
		if known && i < 0 && word == "take" { // it is dying
			s.held = s.held[:len(s.held)-1]
			open[who] = -1
		}
	}
	return s
}

// check makes sure that nobody had the lock beside one who had it alone, and that
// tokens rise where there are any.
func (h *history) check(t *testing.T, style string) record {
	t.Helper()
	s := h.read(t)
	holds.Judge(t, s.held, style == "dir")
	for _, at := range s.met {
		if !slices.ContainsFunc(s.kills, func(kill time.Duration) bool { return kill < at && at < kill+5*time.Second }) {
			t.Errorf("somebody met another one who had not been killed, at %v", at)
		}
	}
	return s
}

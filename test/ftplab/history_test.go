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
	"locksmith/test/lab"
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
	lab.Eventually(t, "somebody to be killed has begun", func() bool {
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
	var r record
	var all holds.History
	for line := range strings.Lines(string(text)) {
		var word, who, mode string
		var at time.Duration
		var token uint64
		_, _ = fmt.Sscan(line, &word, &at, &who, &mode, &token) // a kill has fewer
		switch word {
		case "take":
			all.Take(holds.Hold{Who: who, Shared: mode == "shared", Start: at, Token: token})
		case "give":
			all.Give(who, at)
		case "met":
			r.met = append(r.met, at)
		case "kill":
			r.kills = append(r.kills, at)
			all.Kill(who, at)
		}
	}
	r.held = all.All()
	return r
}

// check makes sure that nobody had the lock beside one who had it alone, and that
// tokens rise where there are any. Who is killed may be met until the kernel is done.
func (h *history) check(t *testing.T, style string) record {
	t.Helper()
	r := h.read(t)
	holds.Judge(t, r.held, style == "dir")
	for _, at := range r.met {
		if !slices.ContainsFunc(r.kills, func(kill time.Duration) bool { return kill < at && at < kill+20*time.Second }) {
			t.Errorf("somebody met another one who had not been killed, at %v", at)
		}
	}
	return r
}

//go:build unix

package mkdirlock

import (
	"slices"
	"testing"
	"time"

	"locksmith/backends/manners"
)

// TestManners: who is told how often to ask asks so often, and no oftener.
func TestManners(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("here", m, plain).take(t, "exclusive")
		r := newHost("there", m, plain).Request("exclusive")
		second := manners.Range{Min: time.Second, Max: time.Second}
		r.Polls = &manners.Config{Poll: second, Quick: 2, Slow: manners.Range{Min: 3 * time.Second, Max: 5 * time.Second}}
		a := newHost("there", m, plain).ask(t, r)
		mustBeHeld(t, a)
		var pauses []time.Duration
		for range 6 {
			pauses = append(pauses, a.pause())
		}
		if want := []time.Duration{1, 1, 3, 1, 1, 5}; !slices.EqualFunc(pauses, want, func(got, want time.Duration) bool { return got == want*time.Second }) {
			t.Errorf("pauses %v", pauses)
		}
		mustWork(t, a.Withdraw(t.Context()))
		mustRelease(t, h)
	})
}

//go:build unix

package symlinks

import (
	"slices"
	"testing"
	"time"

	"locksmith/backends/backoff"
)

// TestBackoff: a waiter that is told how often to ask asks so often, and no oftener.
func TestBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("here", m).take(t, "exclusive")
		r := newHost("there", m).Request("exclusive")
		second := backoff.Range{Min: time.Second, Max: time.Second}
		r.Polls = &backoff.Config{Poll: second, Quick: 2, Slow: backoff.Range{Min: 3 * time.Second, Max: 5 * time.Second}}
		a := newHost("there", m).ask(t, r)
		mustBeHeld(t, a)
		var pauses []time.Duration
		for range 6 {
			pauses = append(pauses, a.Pause(a.Request.Clock.Now()))
		}
		if want := []time.Duration{1, 1, 3, 1, 1, 5}; !slices.EqualFunc(pauses, want, func(got, want time.Duration) bool { return got == want*time.Second }) {
			t.Errorf("the pauses are %v, want 1, 1, 3, 1, 1 and 5 s", pauses)
		}
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		mustRelease(t, h)
	})
}

package show

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A record keeps messages.
type record struct{ bytes.Buffer }

func (*record) Stuck() bool { return false }

// waitFor waits for passed, and returns what was told.
func waitFor(passed time.Duration) string {
	var out record
	w := NewWaitLine(nil, &out)
	w.Show(&backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Age: time.Second}})
	time.Sleep(passed)
	synctest.Wait()
	w.Show(nil)
	return out.String()
}

// TestWaitLine: without a terminal a wait is told after a second, and again each time twice as late. A
// wait that was over before is not told at all.
func TestWaitLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := waitFor(time.Second - 1); got != "" {
			t.Errorf("of a wait shorter than a second is told: %q, want nothing", got)
		}
		begun := "locksmith: waiting: fake:/x: held by somebody unknown (pid 7) for 2s\n"
		if got := waitFor(time.Minute - 1); got != begun {
			t.Errorf("in the first minute of a wait is told: %q, want %q", got, begun)
		}
		got := waitFor(8*time.Minute - 1)
		want := begun
		for _, m := range []string{"1m", "2m", "4m"} {
			want += "locksmith: still waiting after " + m + "0s: fake:/x: held by somebody unknown (pid 7) for " + m + "1s\n"
		}
		if got != want {
			t.Errorf("of a long wait is told:\n%swant\n%s", got, want)
		}
	})
}

// TestTroubleIsTold: trouble with the lock's place is told at once, and once in a wait, however often
// it comes.
func TestTroubleIsTold(t *testing.T) {
	held := &backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Age: time.Second}}
	away := &backend.HeldError{Lock: "fake:/x", Obstacle: &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "connect", Err: errors.New("refused")}}
	const trouble = "locksmith: waiting: fake:/x: waiting until it can be seen who holds it: connect: refused\n"
	for name, c := range map[string]struct {
		before time.Duration // from the beginning of the wait to the trouble
		want   string
	}{
		"in a short wait": {0, trouble},
		"in a long wait":  {2 * time.Second, "locksmith: waiting: fake:/x: held by somebody unknown (pid 7) for 2s\n" + trouble},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out record
			w := NewWaitLine(nil, &out)
			w.Show(held)
			time.Sleep(c.before)
			for range 3 {
				w.Show(away)
				w.Show(held)
			}
			time.Sleep(30 * time.Second)
			synctest.Wait()
			w.Show(nil)
			if out.String() != c.want {
				t.Errorf("of trouble %s is told:\n%swant\n%s", name, out.String(), c.want)
			}
		})
	}
}

// TestOnlyStuck: after OnlyStuck a wait is told only if nothing is going to end it.
func TestOnlyStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out record
		w := NewWaitLine(nil, &out)
		w.OnlyStuck()
		w.Show(&backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Age: time.Second}})
		if out.Len() > 0 {
			t.Errorf("of a wait for a holder that may end is told: %q, want nothing", out.String())
		}
		w.Show(&backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Overdue: true}})
		if !strings.Contains(out.String(), "waiting: fake:/x: held by") {
			t.Errorf("of a wait that nothing is going to end is told: %q, want who holds the lock", out.String())
		}
		w.Show(nil)
	})
}

// TestQuietWaitLine: a nil WaitLine tells nothing.
func TestQuietWaitLine(*testing.T) {
	var w *WaitLine
	w.Show(&backend.HeldError{})
	w.Show(nil)
	w.Clear()
}

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
func waitFor(after, passed time.Duration) string {
	var out record
	w := NewWaitLine(nil, &out)
	w.After(after)
	w.Show(&backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Age: time.Second}})
	time.Sleep(passed)
	synctest.Wait()
	w.Show(nil)
	return out.String()
}

// TestWaitLine: without a terminal a wait is told at once, and again each time twice as late.
func TestWaitLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := "locksmith: waiting: fake:/x: held by somebody unknown (pid 7) for 1s\n"
		if got := waitFor(0, time.Minute-1); got != begun {
			t.Errorf("in the first minute of a wait is told: %q, want %q", got, begun)
		}
		got := waitFor(0, 8*time.Minute-1)
		want := begun
		for _, m := range []string{"1m", "2m", "4m"} {
			want += "locksmith: still waiting after " + m + "0s: fake:/x: held by somebody unknown (pid 7) for " + m + "1s\n"
		}
		if got != want {
			t.Errorf("of a long wait is told:\n%swant\n%s", got, want)
		}
	})
}

// TestShortWait: a wait that was over before it is told is not told at all.
func TestShortWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := waitFor(time.Second, time.Second-1); got != "" {
			t.Errorf("of a wait shorter than After is told: %q, want nothing", got)
		}
		if got := waitFor(time.Second, 2*time.Minute-1); strings.Count(got, "\n") != 2 || !strings.Contains(got, "waiting: fake:/x: held by somebody unknown (pid 7) for 2s\n") {
			t.Errorf("of a wait longer than After is told: %q, want two lines, with the holder", got)
		}
	})
}

// TestTroubleIsTold: in a wait that had another reason before, trouble with the lock's place is
// told once, however often it comes.
func TestTroubleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out record
		w := NewWaitLine(nil, &out)
		away := &backend.Error{Code: protocol.Unreachable, Lock: "fake:/x", Op: "connect", Err: errors.New("refused")}
		for range 3 {
			w.Show(&backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Age: time.Second}})
			w.Show(&backend.HeldError{Lock: "fake:/x", Obstacle: away})
		}
		w.Show(nil)
		const want = "locksmith: waiting: fake:/x: held by somebody unknown (pid 7) for 1s\n" +
			"locksmith: waiting: fake:/x: waiting until it can be seen who holds it: connect: refused\n"
		if out.String() != want {
			t.Errorf("of a wait with trouble is told:\n%swant\n%s", out.String(), want)
		}
	})
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

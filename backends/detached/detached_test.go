package detached

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// TestDetached: the limit ends a caller's wait, or the grace after its context does. The answer
// can still be had later.
func TestDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		back := make(chan struct{})
		d := Go(func() (int, error) { <-back; return 7, nil })
		if d.Await(t.Context(), clock.Runtime{}, time.Second, time.Minute) || time.Since(start) != time.Second {
			t.Errorf("after %v", time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if d.Await(ctx, clock.Runtime{}, backend.NoLimit, 2*time.Second) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v", time.Since(start))
		}
		if d.Await(ctx, clock.Runtime{}, time.Second, time.Minute) || time.Since(start) != 4*time.Second {
			t.Errorf("after %v, with a limit that is less than the grace", time.Since(start))
		}
		close(back)
		if n, err := d.Result(); n != 7 || err != nil {
			t.Errorf("it returned %d, %v", n, err)
		}
		if !d.Await(ctx, clock.Runtime{}, 0, 0) {
			t.Error("what has come back is gone")
		}
	})
}

// TestLine: a call that is left behind keeps the next one from being made, and what follows it gets
// its outcome. A call that comes back in time has nothing that follows it.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var made atomic.Int32
		l := Line{Clock: clock.Runtime{}}
		call := func(takes time.Duration, late func(error)) (bool, error) {
			return l.Call(t.Context(), Bounds{Limit: time.Second, End: time.Second}, func(ctx context.Context) error {
				made.Add(1)
				time.Sleep(takes)
				return ctx.Err()
			}, late)
		}
		never := func(error) { t.Error("a call that came back is called late") }
		if back, err := call(time.Second/2, never); !back || err != nil || l.Hung() {
			t.Errorf("a call that comes back in time: %v, %v", back, err)
		}
		var late error
		if back, err := call(5*time.Second, func(err error) { late = err }); back || err != backend.ErrNoAnswer || !l.Hung() || time.Since(start) != 5*time.Second/2 {
			t.Errorf("a call that hangs: %v, %v after %v", back, err, time.Since(start))
		}
		if back, err := call(0, never); back || err != backend.ErrNoAnswer || made.Load() != 2 {
			t.Errorf("a call beside one that hangs: %v, %v, and %d were made", back, err, made.Load())
		}
		if !l.Free(t.Context(), backend.NoLimit, 0) || late != context.Canceled || time.Since(start) != 11*time.Second/2 {
			t.Errorf("the call that was left behind ended with %v after %v", late, time.Since(start))
		}
		if back, err := call(0, never); !back || err != nil || made.Load() != 3 {
			t.Errorf("a call after that: %v, %v", back, err)
		}
	})
}

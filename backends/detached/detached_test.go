package detached

import (
	"context"
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

package backend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/clock"
)

// TestDetached: who waits is released by the limit, or by the grace after its context; the
// answer can still be had later.
func TestDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		back := make(chan struct{})
		d := Detach(func() (int, error) { <-back; return 7, nil })
		if d.Await(t.Context(), clock.Runtime{}, time.Second, time.Minute) || time.Since(start) != time.Second {
			t.Errorf("after %v", time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if d.Await(ctx, clock.Runtime{}, NoLimit, 2*time.Second) || time.Since(start) != 3*time.Second {
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

// TestRetry: others' progress makes it try again, and what went wrong each time is told.
func TestRetry(t *testing.T) {
	fault := &Error{Err: errors.New("full")}
	for name, c := range map[string]struct {
		errs  []error
		tries int
		want  error
	}{
		"at once":      {[]error{nil}, 1, nil},
		"in the end":   {[]error{ErrAgain, errors.Join(ErrAgain, fault), nil}, 3, nil},
		"another":      {[]error{ErrAgain, ErrGone}, 2, ErrGone},
		"used up":      {[]error{errors.Join(ErrAgain, fault), ErrAgain, ErrAgain}, 3, ErrAgain},
		"with a fault": {[]error{ErrAgain, ErrAgain, errors.Join(ErrAgain, fault)}, 3, fault},
	} {
		n := 0
		_, err := Retry(t.Context(), 3, func() (int, error) {
			n++
			return n, c.errs[n-1]
		})
		if n != c.tries || !errors.Is(err, c.want) {
			t.Errorf("%s: %v after %d tries", name, err, n)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Retry(ended, 3, func() (int, error) { return 0, ErrAgain }); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on: %v", err)
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/protocol"
)

// TestWithDeadline: a call that hangs is left behind after a while, or when its caller does not
// want it any more. A call that heeds its context gives the same error.
func TestWithDeadline(t *testing.T) {
	unwanted := errors.New("a signal")
	for _, c := range []struct {
		name  string
		takes time.Duration
		heeds bool          // its context
		ends  time.Duration // when the caller's context ends; 0: it does not end
		code  protocol.Code // "": the call gives an answer
		cause error
		took  time.Duration
	}{
		{"answers", time.Second, false, 0, "", nil, time.Second},
		{"hangs", time.Hour, false, 0, protocol.Unreachable, nil, answerTime},
		{"gives up", time.Hour, true, 0, protocol.Unreachable, nil, answerTime},
		{"hangs, unwanted", time.Hour, false, time.Second, "", unwanted, time.Second},
		{"gives up, unwanted", time.Hour, true, time.Second, "", unwanted, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.ends > 0 {
					time.AfterFunc(c.ends, func() { cancel(unwanted) })
				}
				start := time.Now()
				got, err := withDeadline(ctx, "fake:/x", "look", func(ctx context.Context) (int, error) {
					if !c.heeds {
						ctx = context.Background()
					}
					select {
					case <-time.After(c.takes):
						return 7, nil
					case <-ctx.Done():
						return 0, fmt.Errorf("look: %w", ctx.Err())
					}
				})
				if took := time.Since(start); took != c.took {
					t.Errorf("the call took %v, want %v", took, c.took)
				}
				switch {
				case c.cause != nil:
					if !errors.Is(err, c.cause) {
						t.Error(err)
					}
				case c.code == "" && (err != nil || got != 7), c.code != "" && (err == nil || codeOf(err) != c.code):
					t.Errorf("the call returned %d, %v", got, err)
				}
				time.Sleep(2 * time.Hour) // until the call that was left behind ends, too
			})
		})
	}
}

// Package clock is the one clock for leases and timeouts.
//
// Boot reads CLOCK_BOOTTIME where there is one (clock_gettime(2)). That clock never steps. It
// goes on while the machine is suspended, because others do not wait for a suspended machine. Its
// zero means nothing; only differences count.
package clock

import (
	"context"
	"errors"
	"time"
)

// A Clock tells time and waits.
type Clock interface {
	// Now returns the time since a fixed but unknown moment.
	Now() time.Duration
	// NewTimer returns a timer that fires once, d from now.
	NewTimer(d time.Duration) Timer
}

// A Timer fires once.
type Timer interface {
	// C receives when the timer fires.
	C() <-chan time.Time
	// Stop frees the timer, fired or not.
	Stop()
}

// Runtime is a Clock on the Go runtime's monotonic time. It stands still during a suspend. Under
// testing/synctest it is the bubble's fake time.
type Runtime struct{}

// Go's monotonic clock has no zero of its own.
var epoch = time.Now()

// Now implements Clock.
func (Runtime) Now() time.Duration { return time.Since(epoch) }

// NewTimer implements Clock.
func (Runtime) NewTimer(d time.Duration) Timer { return runtimeTimer{time.NewTimer(d)} }

type runtimeTimer struct{ t *time.Timer }

func (t runtimeTimer) C() <-chan time.Time { return t.t.C }
func (t runtimeTimer) Stop()               { t.t.Stop() }

// ErrTimeout is the cause of a context that WithTimeout ended.
var ErrTimeout = errors.New("the time is over")

// WithTimeout is context.WithTimeout on a Clock. When the time is over, the context's cause is
// ErrTimeout.
func WithTimeout(ctx context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := c.NewTimer(d)
	go func() {
		select {
		case <-timer.C():
			cancel(ErrTimeout)
		case <-ctx.Done():
		}
		timer.Stop()
	}()
	return ctx, func() { cancel(nil) }
}

// Sleep returns after d or when ctx ends.
func Sleep(ctx context.Context, c Clock, d time.Duration) {
	if ctx.Err() != nil { // saves the price of a timer
		return
	}
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// Pause waits for d on the runtime's clock. If ctx ends first, it returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	Sleep(ctx, Runtime{}, d)
	return ctx.Err()
}

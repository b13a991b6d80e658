package clock

import (
	"context"
	"errors"
	"time"
)

// ErrTimeout is the cause of a context that WithTimeout ended.
var ErrTimeout = errors.New("the time is over")

// WithTimeout is context.WithTimeout on a clock of ours; the context's cause
// is ErrTimeout when the time is over.
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

// Await receives the answer of a call that was made with ctx. It gives up so long after
// ctx has ended.
func Await[T any](ctx context.Context, c Clock, grace time.Duration, done <-chan T) (answer T, ok bool) {
	select {
	case answer = <-done:
		return answer, true
	case <-ctx.Done():
	}
	timer := c.NewTimer(grace)
	defer timer.Stop()
	select {
	case answer = <-done:
		return answer, true
	case <-timer.C():
		return answer, false
	}
}

// Sleep returns after d or when ctx ends.
func Sleep(ctx context.Context, c Clock, d time.Duration) {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// Pause waits for d on the runtime's clock, and returns ctx's error if that ends
// first.
func Pause(ctx context.Context, d time.Duration) error {
	Sleep(ctx, Runtime{}, d)
	return ctx.Err()
}

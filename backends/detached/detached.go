// Package detached makes calls that a caller may leave behind. A system call on a dead server may
// hang for good and heeds no context. A caller that does not want to wait longer returns
// backend.ErrNoAnswer.
package detached

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// A Call is a call in another goroutine.
type Call[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Go makes a call in a goroutine of its own.
func Go[T any](call func() (T, error)) *Call[T] {
	return GoIn(func(f func()) { go f() }, call)
}

// GoIn is Go in a goroutine of the caller's choice: run hands its argument to another goroutine,
// which calls it.
func GoIn[T any](run func(func()), call func() (T, error)) *Call[T] {
	d := &Call[T]{done: make(chan struct{})}
	run(func() {
		defer close(d.done)
		d.value, d.err = call()
	})
	return d
}

// An ErrCall is a Call that returns only an error.
type ErrCall = Call[struct{}]

// GoErr is Go for such a call.
func GoErr(call func() error) *ErrCall {
	return Go(func() (struct{}, error) { return struct{}{}, call() })
}

// Done is closed when the call has come back.
func (d *Call[T]) Done() <-chan struct{} { return d.done }

// Result waits for what the call returns, and returns it.
func (d *Call[T]) Result() (T, error) {
	<-d.done
	return d.value, d.err
}

// Await waits until the call comes back, for limit at most and for grace at most after ctx
// has ended, and reports whether it has come back. It may be called again. A call that has
// come back counts, however late this goroutine runs.
func (d *Call[T]) Await(ctx context.Context, c clock.Clock, limit, grace time.Duration) (back bool) {
	var over <-chan time.Time
	if limit != backend.NoLimit {
		timer := c.NewTimer(limit)
		defer timer.Stop()
		over = timer.C()
	}
	select {
	case <-d.done:
	case <-over:
	case <-ctx.Done():
		late := c.NewTimer(grace)
		defer late.Stop()
		select {
		case <-d.done:
		case <-over:
		case <-late.C():
		}
	}
	return d.IsBack()
}

// IsBack reports whether the call has come back.
func (d *Call[T]) IsBack() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

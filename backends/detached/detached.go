// Package detached makes calls that a caller may leave behind. A system call on a dead server may
// hang for good and heeds no context. A caller that does not want to wait longer returns
// backend.ErrNoAnswer.
package detached

import (
	"context"
	"sync/atomic"
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

// Bounds say how long to wait for a call: for Limit at most, and for Grace at most after the
// caller's context has ended. Then the call's own context ends, and the call gets End to come back,
// so that the next call does not meet it.
type Bounds struct{ Limit, Grace, End time.Duration }

// A Line makes the calls of one lock, one at a time: after a call that was left behind, the next one
// begins when that has come back. One goroutine at a time uses a Line.
type Line struct {
	Clock clock.Clock
	Run   func(func()) // of GoIn; nil: each call has a goroutine of its own
	hung  *ErrCall     // left behind, with what follows it; nil: there is none
}

// Call makes a call. If the call does not come back in time it is left behind: back is false, err is
// backend.ErrNoAnswer, and late, if not nil, gets what it returns, in the call's own goroutine.
func (l *Line) Call(ctx context.Context, b Bounds, f func(context.Context) error, late func(error)) (back bool, err error) {
	if !l.Free(ctx, b.Limit, 0) {
		return false, backend.ErrNoAnswer
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	run := l.Run
	if run == nil {
		run = func(f func()) { go f() }
	}
	var over atomic.Bool // set by the call that comes back, or by us who leave it behind: who is first decides
	call := GoIn(run, func() (struct{}, error) {
		err := f(own)
		if over.Swap(true) && late != nil {
			late(err)
		}
		return struct{}{}, err
	})
	if call.Await(ctx, l.Clock, b.Limit, b.Grace) || over.Swap(true) {
		_, err := call.Result()
		return true, err
	}
	cancel()
	if b.End == 0 || !call.Await(context.Background(), l.Clock, b.End, 0) {
		l.hung = call
	}
	return false, backend.ErrNoAnswer
}

// Free waits, as Await does, for the call that was left behind, and reports whether there is none
// any more.
func (l *Line) Free(ctx context.Context, limit, grace time.Duration) bool {
	if l.hung != nil && l.hung.Await(ctx, l.Clock, limit, grace) {
		l.hung = nil
	}
	return l.hung == nil
}

// Hung reports whether a call was left behind, and no Free or Call has waited for its end.
func (l *Line) Hung() bool { return l.hung != nil }

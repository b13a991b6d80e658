package backend

import (
	"context"
	"errors"
	"math"
	"time"

	"locksmith/backends/clock"
)

// ErrNoAnswer says that a call was left behind. If a call that has come back returns it,
// then some other call was left behind, one which that call had made.
var ErrNoAnswer = errors.New("no answer in time")

// A Detached is a call in another goroutine. A system call on a dead server may hang for
// good and heeds no context: a caller that does not want to wait longer leaves it behind.
type Detached[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Detach makes a call in a goroutine of its own.
func Detach[T any](call func() (T, error)) *Detached[T] {
	return DetachIn(func(f func()) { go f() }, call)
}

// DetachIn is Detach in a goroutine of the caller's choice: run hands what it is given to
// another goroutine, which calls it.
func DetachIn[T any](run func(func()), call func() (T, error)) *Detached[T] {
	d := &Detached[T]{done: make(chan struct{})}
	run(func() {
		defer close(d.done)
		d.value, d.err = call()
	})
	return d
}

// A Call is one that returns nothing but an error.
type Call = Detached[struct{}]

// DetachCall is Detach for such a call.
func DetachCall(call func() error) *Call {
	return Detach(func() (struct{}, error) { return struct{}{}, call() })
}

// Done is closed when the call has come back.
func (d *Detached[T]) Done() <-chan struct{} { return d.done }

// Result is what the call returned. It waits for that.
func (d *Detached[T]) Result() (T, error) {
	<-d.done
	return d.value, d.err
}

// NoLimit is a limit that is never reached.
const NoLimit = time.Duration(math.MaxInt64)

// Await waits until the call comes back, for limit at most and for grace at most after ctx
// has ended, and reports whether it has come back. It may be called again. A call that has
// come back counts, however late this goroutine runs.
func (d *Detached[T]) Await(ctx context.Context, c clock.Clock, limit, grace time.Duration) (back bool) {
	var over <-chan time.Time
	if limit != NoLimit {
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
func (d *Detached[T]) IsBack() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

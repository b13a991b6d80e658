package locksmith

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
)

const (
	// answerTime is how long a call may go on after its context has ended.
	answerTime = time.Second
	// endTime is how long we wait for a call after we have ended its context, so that the next
	// call does not meet it.
	endTime = 50 * time.Millisecond
)

// A cutError is the error of a call whose time was over, in words for people. They know of no
// context.
type cutError struct {
	error
	after time.Duration
}

func (e cutError) Error() string {
	return strings.ReplaceAll(e.error.Error(), context.Canceled.Error(), fmt.Sprintf("cut short after %v, without an answer", e.after.Round(time.Millisecond)))
}
func (e cutError) Unwrap() error { return e.error }

// bounded calls f. After d it ends f's context, leaves f behind and returns backend.ErrNoAnswer.
func bounded(c clock.Clock, d time.Duration, f func(context.Context) error) error {
	calls := detached.Line{Clock: c}
	_, err := calls.Call(context.Background(), detached.Bounds{Limit: d, End: endTime}, f, nil)
	return err
}

// call makes a call of the hold. It waits for d, or until parent has ended and a little longer.
// The call's own context ends after share: if a connection has gone silent, the rest of d is left
// for another connection. Calls are made one at a time: a call that was left behind must come back
// before the next begins. back is false if this call did not come back in time, or was not made.
func (s *session) call(parent context.Context, d, share time.Duration, f func(context.Context) error) (back bool, err error) {
	start := s.now()
	if s.calls.Hung() {
		if !s.calls.Free(parent, d, min(d, answerTime)) {
			return false, backend.ErrNoAnswer
		}
		d = max(d-(s.now()-start), lastTry)
	}
	back, err = s.calls.Call(parent, detached.Bounds{Limit: d, Grace: min(d, answerTime), End: endTime}, func(ctx context.Context) error {
		ctx, cancel := clock.WithTimeout(ctx, s.clock(), min(share, d))
		defer cancel()
		err := f(ctx)
		if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), clock.ErrTimeout) {
			err = cutError{err, min(share, d)}
		}
		return err
	}, nil)
	if s.calls.Hung() {
		s.helper.leaveBehind()
	}
	return back, err
}

package locksmith

import (
	"context"
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

// bounded calls f. After d it ends f's context, leaves f behind and returns backend.ErrNoAnswer.
func bounded(c clock.Clock, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	call := detached.GoErr(func() error { return f(ctx) })
	if call.Await(ctx, c, d, 0) {
		_, err := call.Result()
		return err
	}
	cancel()
	call.Await(context.Background(), c, endTime, 0)
	return backend.ErrNoAnswer
}

// call makes a call of the hold. It waits for d, or until parent has ended and a little longer.
// The call's own context ends after share: if a connection has gone silent, the rest of d is left
// for another connection. Calls are made one at a time: a call that was left behind must come back
// before the next begins. back is false if this call did not come back in time, or was not made.
func (s *session) call(parent context.Context, d, share time.Duration, f func(context.Context) error) (back bool, err error) {
	start := s.now()
	if s.hung != nil {
		if !s.hung.Await(parent, s.clock(), d, min(d, answerTime)) {
			return false, backend.ErrNoAnswer
		}
		s.hung = nil
		d = max(d-(s.now()-start), lastTry)
	}
	ctx, cancel := clock.WithTimeout(parent, s.clock(), min(share, d))
	defer cancel()
	call := detached.GoErr(func() error { return f(ctx) })
	if call.Await(parent, s.clock(), d, min(d, answerTime)) {
		_, err := call.Result()
		return true, err
	}
	cancel()
	if !call.Await(context.Background(), s.clock(), endTime, 0) {
		s.hung = call
		s.helper.leaveBehind()
	}
	return false, backend.ErrNoAnswer
}

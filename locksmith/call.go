package locksmith

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

const (
	// answerTime is how long a call may go on after its context has ended.
	answerTime = time.Second
	// endTime is how long we wait for one whose context we have ended ourselves: what
	// follows should not meet it.
	endTime = 50 * time.Millisecond
)

// A call is one that may hang and returns nothing but an error.
type call = backend.Detached[struct{}]

func detach(f func() error) *call {
	return backend.Detach(func() (struct{}, error) { return struct{}{}, f() })
}

// comesBack waits for a call as Await does, and reports whether it came back.
func comesBack[T any](ctx context.Context, c clock.Clock, call *backend.Detached[T], limit, grace time.Duration) bool {
	_, _ = call.Await(ctx, c, limit, grace)
	return isClosed(call.Done())
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// bounded calls f, and after d ends its context and leaves it behind with
// backend.ErrNoAnswer.
func bounded(c clock.Clock, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	call := detach(func() error { return f(ctx) })
	if comesBack(ctx, c, call, d, 0) {
		_, err := call.Result()
		return err
	}
	cancel()
	comesBack(context.Background(), c, call, endTime, 0)
	return backend.ErrNoAnswer
}

// call makes a call of the hold and waits for it: for d, or until parent has ended and
// a little longer. The call's own context ends after share of that, so that a
// connection which has gone silent leaves some time for another. There is one call at
// a time: one that was left behind must come back before the next. back is false if this
// one was left behind, too.
func (s *session) call(parent context.Context, d, share time.Duration, f func(context.Context) error) (back bool, err error) {
	start := s.now()
	if s.hung != nil {
		if !comesBack(parent, s.clock(), s.hung, d, min(d, answerTime)) {
			return false, backend.ErrNoAnswer
		}
		s.hung = nil
		d = max(d-(s.now()-start), lastTry)
	}
	ctx, cancel := clock.WithTimeout(parent, s.clock(), min(share, d))
	defer cancel()
	call := detach(func() error { return f(ctx) })
	if comesBack(parent, s.clock(), call, d, min(d, answerTime)) {
		_, err := call.Result()
		return true, err
	}
	cancel()
	if !comesBack(context.Background(), s.clock(), call, endTime, 0) {
		s.hung = call
	}
	return false, backend.ErrNoAnswer
}

package locksmith

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/clock"
)

// A system call on a dead server may hang for good and heeds no context. So calls are
// made beside us, and one that does not answer is left behind.

var errNoAnswer = errors.New("no answer in time")

const (
	// answerTime is how long a call may go on after its context has ended.
	answerTime = time.Second
	// endTime is how long we wait for one that we have ended ourselves.
	endTime = 50 * time.Millisecond
)

// bounded calls f, whose context ends after d, and leaves it behind then with
// errNoAnswer.
func bounded(c clock.Clock, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	back, err := answer(ctx, c, d, done)
	if !back {
		end(c, cancel, done)
	}
	return err
}

// answer waits for the answer of a call: for d, or until parent has ended and
// answerTime longer. Without one the error is errNoAnswer.
func answer(parent context.Context, c clock.Clock, d time.Duration, done <-chan error) (back bool, err error) {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-done:
		return true, err
	case <-timer.C():
	case <-parent.Done():
		late := c.NewTimer(min(d, answerTime))
		defer late.Stop()
		select {
		case err := <-done:
			return true, err
		case <-late.C():
		}
	}
	select {
	case err := <-done: // both happened while we did not run
		return true, err
	default:
		return false, errNoAnswer
	}
}

// end ends the context of a call and reports whether the call came back for that:
// what follows should not meet it.
func end(c clock.Clock, cancel context.CancelFunc, done <-chan error) bool {
	cancel()
	grace := c.NewTimer(endTime)
	defer grace.Stop()
	select {
	case <-done:
		return true
	case <-grace.C():
		return false
	}
}

// call makes a call of the hold and waits for it: for d, or until parent has ended and
// a little longer. The call's own context ends after share of that, so that a
// connection which has gone silent leaves some time for another. There is one call at
// a time: one that was left behind must come back before the next.
func (t *tenure) call(parent context.Context, d, share time.Duration, f func(context.Context) error) error {
	start := t.now()
	if t.hung != nil {
		if back, err := answer(parent, t.clock(), d, t.hung); !back {
			return err
		}
		t.hung = nil
		d = max(d-(t.now()-start), lastTry)
	}
	ctx, cancel := clock.WithTimeout(parent, t.clock(), min(share, d))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	back, err := answer(parent, t.clock(), d, done)
	if !back && !end(t.clock(), cancel, done) {
		t.hung = done
	}
	return err
}

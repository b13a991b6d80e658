package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// A tenure is the time in which a lock is held. All its times are readings of
// the helper's own clock.
type tenure struct {
	helper *Helper
	hold   backend.Hold
	lease  time.Duration
	every  time.Duration // between heartbeats
	// confirmed is when the last request was sent that proved the lock ours.
	confirmed time.Duration
	// failed is the error of the last heartbeat, if it did not succeed.
	failed error
	// tending is the answer of a Tend that did not come back; else nil.
	tending <-chan error
	// idle is how many calls of Tend are left out, and rest how many after the
	// next one that is cut off.
	idle, rest int
}

var errNoAnswer = errors.New("no answer in time")

// run holds the lock until it is not wanted or lost, and gives it up.
func (t *tenure) run() error {
	err := t.keep()
	if err == nil {
		t.helper.Log.Debug("releasing", "lock", t.helper.Address, "reason", context.Cause(t.wanted()))
		err = t.release()
	}
	if err != nil {
		t.lost(err)
	}
	return err
}

// keep is the state holding: nil when the lock is not wanted any more, the loss
// otherwise.
func (t *tenure) keep() error {
	next := t.confirmed + t.every
	for {
		clock.Sleep(t.wanted(), t.clock(), next-t.now())
		// First the clock: we may have been stopped, or the machine suspended.
		if err := t.checkLease(nil); err != nil {
			return err
		}
		if t.wanted().Err() != nil {
			return nil
		}
		err := t.beat()
		if asLoss(err) != nil {
			return err
		}
		if err == nil {
			t.helper.Guard.Beat(t.now() - t.confirmed)
			t.tend()
		}
		next = t.confirmed + t.every
		if err != nil && t.wanted().Err() == nil {
			t.helper.Log.Warn("heartbeat failed, trying again", "lock", t.helper.Address, "error", err)
			next = min(t.now()+t.every/4, t.lastMoment())
		}
	}
}

// tend leaves the backend some of the time until the next heartbeat for its
// housekeeping. One that hangs goes on beside us, and nobody waits for it once
// the lock is not wanted any more.
func (t *tenure) tend() {
	tender, ok := t.hold.(backend.Tender)
	if !ok || t.isTending() || t.isResting() {
		return
	}
	ctx, cancel := clock.WithTimeout(t.wanted(), t.clock(), t.every/4)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- tender.Tend(ctx) }()
	err, ok := await(ctx, t.clock(), min(t.every/4, answerTime), done)
	if !ok {
		t.tending, err = done, errNoAnswer
	}
	t.restAfter(ctx.Err() != nil && t.wanted().Err() == nil)
	if err != nil {
		t.helper.Log.Debug("housekeeping failed", "lock", t.helper.Address, "error", err)
	}
}

// maxRest is how many heartbeats there are at most between two calls of Tend.
const maxRest = 64

// restAfter makes housekeeping rarer that is cut off again and again: on a slow
// server every cut may cost the connection, which the heartbeats need.
func (t *tenure) restAfter(cut bool) {
	if !cut {
		t.rest = 0
		return
	}
	t.idle, t.rest = t.rest, min(2*max(t.rest, 1), maxRest)
}

// isResting reports whether this call is to be left out.
func (t *tenure) isResting() bool {
	if t.idle == 0 {
		return false
	}
	t.idle--
	return true
}

// isTending reports whether a Tend still hangs.
func (t *tenure) isTending() bool {
	select {
	case <-t.tending:
		t.tending = nil
	default:
	}
	return t.tending != nil
}

// lastMoment is when a holder whose heartbeats fail declares itself lost.
func (t *tenure) lastMoment() time.Duration { return t.confirmed + t.lease*3/4 }

// beat sends one heartbeat. It has until the last moment for an answer; only a
// helper that did not run in between, and so has not failed either, may still
// try until the lease is over.
func (t *tenure) beat() error {
	sent := t.now()
	limit := t.lastMoment()
	if sent >= limit {
		if t.failed != nil {
			return t.expired(t.failed)
		}
		limit = t.confirmed + t.lease
	}
	err := bounded(t.clock(), limit-sent, t.wanted(), t.within(t.every, t.hold.Heartbeat))
	// An answer after the lease proves nothing: a breaker may have looked before.
	if loss := t.checkLease(err); loss != nil {
		return loss
	}
	t.failed = err
	switch {
	case err == nil:
		t.confirmed = sent
	case errors.Is(err, backend.ErrGone):
		return &LossError{Lock: t.helper.Address, Code: protocol.Gone, Err: err}
	case t.now() >= limit:
		return t.expired(err)
	}
	return err
}

// renewIfLate makes sure before OK that most of the lease is left to work in;
// a parent counts from there.
func (t *tenure) renewIfLate() error {
	if t.now() < t.confirmed+t.every/2 {
		return nil
	}
	if err := t.checkLease(nil); err != nil {
		return err
	}
	return t.beat()
}

// checkLease returns the loss if the lease is over.
func (t *tenure) checkLease(cause error) error {
	if errors.Is(cause, backend.ErrGone) || t.now() < t.confirmed+t.lease {
		return nil
	}
	return t.expired(cause)
}

func (t *tenure) expired(cause error) error {
	late := fmt.Errorf("last heartbeat %v ago, the lease is %v", (t.now() - t.confirmed).Round(time.Millisecond), t.lease)
	if cause != nil {
		late = fmt.Errorf("%w: %w", late, cause)
	}
	return &LossError{Lock: t.helper.Address, Code: protocol.Expired, Err: late, Left: t.left()}
}

// lost is the state lost: tell it, let what the lock guards stop, and tidy up
// what may still be there. That names our own acquisition, so it can hit
// nothing of a successor.
func (t *tenure) lost(err error) {
	loss := asLoss(err)
	t.helper.Log.Error("lost", "lock", t.helper.Address, "code", loss.Code, "error", loss.Err)
	t.helper.Guard.Lost(loss)
	if loss.Code == protocol.Expired {
		t.helper.giveBack(t.hold)
	}
}

// abandon gives up a lock that nobody was told about yet, so that its loss is
// none to them.
func (t *tenure) abandon(err error) error {
	t.helper.giveBack(t.hold)
	if asLoss(err) != nil {
		return &backend.Error{Code: protocol.Unreachable, Lock: t.helper.Address, Op: "acquire",
			Err: fmt.Errorf("too slow for the lease: %w", errors.Unwrap(err)), Hint: "try again, or with a longer --lease"}
	}
	return err
}

// lastTry is how long a release may take that begins when the lease is over.
const lastTry = time.Second

// release is the state releasing: again and again until done, or until the
// lease is over and the lock frees itself.
func (t *tenure) release() error {
	pause := 10 * time.Millisecond
	for {
		left := max(t.left(), lastTry)
		err := bounded(t.clock(), left, context.Background(), t.within(max(left/4, lastTry), t.hold.Release))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, backend.ErrGone):
			return &LossError{Lock: t.helper.Address, Code: protocol.Gone, Err: err}
		case errors.Is(err, backend.ErrStays):
			return &LossError{Lock: t.helper.Address, Code: protocol.Unreleased, Err: err}
		case t.left() <= pause || errors.Is(err, errNoAnswer):
			return &LossError{Lock: t.helper.Address, Code: protocol.Unreleased, Err: err, Left: t.left()}
		}
		t.helper.Log.Warn("release failed, trying again", "lock", t.helper.Address, "error", err)
		clock.Sleep(context.Background(), t.clock(), pause)
		pause = min(2*pause, time.Second)
	}
}

// within gives one call a part of the time there is, so that a connection which
// has gone silent leaves some for another.
func (t *tenure) within(d time.Duration, call func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := clock.WithTimeout(ctx, t.clock(), d)
		defer cancel()
		return call(ctx)
	}
}

func (t *tenure) left() time.Duration     { return max(t.confirmed+t.lease-t.now(), 0) }
func (t *tenure) now() time.Duration      { return t.clock().Now() }
func (t *tenure) clock() clock.Clock      { return t.helper.Request.Clock }
func (t *tenure) wanted() context.Context { return t.helper.Guard.Wanted() }

// bounded calls f and waits for it at most d. f's context ends with d and with
// parent; a call that does not heed it is left behind with errNoAnswer, because
// a system call on a dead server may hang for good.
func bounded(c clock.Clock, d time.Duration, parent context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C():
	}
	select {
	case err := <-done: // both happened while we did not run
		return err
	default:
	}
	// A call that heeds its context ends now; what follows should not meet it.
	cancel()
	grace := c.NewTimer(endTime)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C():
	}
	return errNoAnswer
}

// endTime is how long a call may take to notice that its context has ended.
const endTime = 50 * time.Millisecond

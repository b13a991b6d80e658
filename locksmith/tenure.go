package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

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
	told   string // the last failure that was logged
	// hung is the answer of another call that did not come back; else nil.
	hung <-chan error
	// tending is the answer of a Tend that did not come back; else nil.
	tending <-chan error
	// idle is how many calls of Tend are left out, and rest how many after the
	// next one that is cut off.
	idle, rest int
}

// run holds the lock until it is not wanted or lost, and gives it up.
func (t *tenure) run() error {
	err := t.keep()
	if err == nil {
		t.helper.Log.Debug("releasing", "lock", t.helper.Address, "reason", context.Cause(t.wanted()))
		t.releasing()
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
			t.missed(err)
			next = min(t.now()+t.every/4, t.lastMoment())
		}
	}
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
	err := t.call(t.wanted(), limit-sent, t.lease/4, t.hold.Heartbeat)
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
	if t.now() < t.confirmed+t.lease/8 {
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
// what may still be there, such as the other locks of a set. That names our own
// acquisition, so it can hit nothing of a successor.
func (t *tenure) lost(err error) {
	loss := asLoss(err)
	t.helper.Log.Error("lost", "lock", t.helper.Address, "code", loss.Code, "error", loss.Err)
	t.helper.Guard.Lost(loss)
	_, isSet := t.hold.(backend.MultiHold)
	if loss.Code == protocol.Expired || loss.Code == protocol.Gone && isSet {
		t.giveBack()
	}
}

// abandon gives up a lock that nobody was told about yet, so that its loss is
// none to them.
func (t *tenure) abandon(err error) error {
	t.giveBack()
	switch {
	case asLoss(err) != nil:
		err = errors.Unwrap(err)
	case !errors.Is(err, context.Canceled): // a heartbeat that was cut off is as slow
		return err
	}
	return &backend.Error{Code: protocol.Unreachable, Lock: t.helper.Address, Op: "acquire",
		Err: fmt.Errorf("too slow for the lease: %w", err), Hint: "try again, or with a longer --lease"}
}

// complain logs what fails again and again, but for the same reason only once.
func (t *tenure) complain(what string, err error) {
	level := hclog.Warn
	if t.told == err.Error() {
		level = hclog.Debug
	}
	t.told = err.Error()
	t.helper.Log.Log(level, what, "lock", t.helper.Address, "error", err)
}

// giveBack releases what may still be there of a lock that counts no more.
func (t *tenure) giveBack() {
	err := t.call(context.Background(), withdrawTime, withdrawTime, t.hold.Release)
	if err != nil && !errors.Is(err, backend.ErrGone) {
		t.helper.Log.Error("could not remove what is left of the lock", "lock", t.helper.Address, "error", err)
	}
}

func (t *tenure) left() time.Duration     { return max(t.confirmed+t.lease-t.now(), 0) }
func (t *tenure) now() time.Duration      { return t.clock().Now() }
func (t *tenure) clock() clock.Clock      { return t.helper.Request.Clock }
func (t *tenure) wanted() context.Context { return t.helper.Guard.Wanted() }

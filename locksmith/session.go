package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/protocol"
)

// A session holds a lock. All its times are readings of the helper's own clock.
type session struct {
	helper *Helper
	hold   backend.Hold
	lease  time.Duration
	every  time.Duration // between heartbeats
	end    time.Duration // when the lock may be held no longer (MaxHold)
	// confirmed is when we sent the last request that proved the lock ours.
	confirmed time.Duration
	// failed is the error of the last heartbeat; nil if it succeeded.
	failed error
	logged string            // the last failure in the log
	hung   *detached.ErrCall // a call that did not come back; the next one waits for it
	// tending is the last call of Tend, for which no other call waits; nil: there was none.
	tending *detached.ErrCall
	// skip is how many calls of Tend are still to be left out. pause is what skip becomes if the
	// next call is cut off.
	skip, pause int
}

// run holds the lock until it is not wanted, or lost, or may be held no longer. Then it releases
// the lock, or what is left of a lost one.
func (s *session) run() error {
	defer func() {
		if s.tending != nil && !s.tending.IsBack() {
			s.helper.leaveBehind()
		}
	}()
	err := s.keep()
	if loss := asLoss(err); loss != nil && loss.Code == protocol.MaxHold {
		return s.overstay(loss)
	}
	if err == nil {
		s.helper.Log.Debug("releasing", "lock", s.helper.Address, "reason", context.Cause(s.context()))
		s.releasing()
		s.recordSuccess()
		err = s.release()
	}
	if err != nil {
		s.lost(err)
	}
	return err
}

// keep is the state holding. It returns nil when the lock is not wanted any more, and otherwise
// the loss.
func (s *session) keep() error {
	next := s.confirmed + s.every
	for {
		clock.Sleep(s.context(), s.clock(), min(next, s.end)-s.now())
		// Look at the clock first: we may have been stopped, or the machine suspended.
		if err := s.checkLease(nil); err != nil {
			return err
		}
		if s.context().Err() != nil {
			return nil
		}
		if s.now() >= s.end {
			err := fmt.Errorf("it was held for %v, as long as it may be", s.helper.Request.Owner.MaxHold)
			return &LossError{Lock: s.helper.Address, Code: protocol.MaxHold, Err: err, Left: min(s.left(), stopTime)}
		}
		err := s.beat()
		if asLoss(err) != nil {
			return err
		}
		if err == nil {
			s.helper.Client.Beat(s.now() - s.confirmed)
			s.tend()
		}
		next = s.confirmed + s.every
		if err != nil && s.context().Err() == nil {
			s.missed(err)
			next = min(s.now()+s.every/4, s.lastMoment())
		}
	}
}

// lastMoment is the moment at which a holder whose heartbeats fail declares the lock lost.
func (s *session) lastMoment() time.Duration { return s.confirmed + protocol.StopAfter(s.lease) }

// beat sends one heartbeat. Its answer must come by the last moment. If the last moment has passed
// though no heartbeat failed, this process was stopped: then the answer has until the end of the
// lease and, if the lock is kept, at least a quarter of a lease from now.
func (s *session) beat() error {
	sent := s.now()
	limit := s.lastMoment()
	if sent >= limit {
		if s.failed != nil {
			return s.expired(s.failed)
		}
		limit = s.confirmed + s.lease
		if s.kept() {
			limit = max(limit, sent+s.lease/4)
		}
	}
	_, err := s.call(s.context(), limit-sent, s.lease/4, s.hold.Heartbeat)
	if now := s.now(); errors.Is(err, backend.ErrNoAnswer) && s.kept() && now > limit+answerTime {
		sent = now // we were stopped during that call, so another heartbeat decides
		_, err = s.call(s.context(), s.lease/4, s.lease/4, s.hold.Heartbeat)
	}
	// After the lease a success proves nothing, unless the lock is kept: a breaker may have looked
	// before it.
	if err != nil || !s.kept() {
		if loss := s.checkLease(err); loss != nil {
			return loss
		}
	}
	s.failed = err
	switch {
	case err == nil:
		s.confirmed = sent
	case errors.Is(err, backend.ErrGone):
		return &LossError{Lock: s.helper.Address, Code: protocol.Gone, Err: err}
	case s.now() >= limit:
		return s.expired(err)
	}
	return err
}

// renewIfLate makes sure before OK that most of the lease is left, because the parent counts the
// lease from OK.
func (s *session) renewIfLate() error {
	if s.now() < s.confirmed+s.lease/8 {
		return nil
	}
	if err := s.checkLease(nil); err != nil {
		return err
	}
	return s.beat()
}

// checkLease returns the loss if the lease is over. A kept lock is not lost before a heartbeat
// fails. cause is the error of a heartbeat that has just come back; beat tells of ErrGone.
func (s *session) checkLease(cause error) error {
	switch {
	case errors.Is(cause, backend.ErrGone), s.now() < s.confirmed+s.lease:
		return nil
	case cause == nil && s.failed == nil && s.kept():
		return nil // the next heartbeat decides
	}
	return s.expired(cause)
}

// kept reports whether the system keeps the lock: nobody takes it by its lease while this process
// lives.
func (s *session) kept() bool {
	h, ok := s.hold.(backend.KeptHold)
	return ok && h.Kept()
}

func (s *session) expired(cause error) error {
	late := fmt.Errorf("last heartbeat %v ago, the lease is %v", (s.now() - s.confirmed).Round(time.Millisecond), s.lease)
	if cause != nil {
		late = fmt.Errorf("%w: %w", late, cause)
	}
	return &LossError{Lock: s.helper.Address, Code: protocol.Expired, Err: late, Left: s.left()}
}

// complain logs a failure: as a warning, or at debug level if it repeats the last.
func (s *session) complain(what string, err error) {
	level := hclog.Warn
	if s.logged == err.Error() {
		level = hclog.Debug
	}
	s.logged = err.Error()
	s.helper.Log.Log(level, what, "lock", s.helper.Address, "error", err)
}

// tend gives the backend a quarter of the time until the next heartbeat for housekeeping. A call
// that hangs is left running. Once the lock is not wanted any more, nobody waits for the call.
func (s *session) tend() {
	if s.tending != nil && !s.tending.IsBack() || s.skips() {
		return
	}
	ctx, cancel := clock.WithTimeout(s.context(), s.clock(), s.every/4)
	defer cancel()
	s.tending = detached.GoErr(func() error { return s.hold.Tend(ctx) })
	err := backend.ErrNoAnswer
	if s.tending.Await(ctx, s.clock(), backend.NoLimit, min(s.every/4, answerTime)) {
		_, err = s.tending.Result()
	}
	s.pauseAfter(ctx.Err() != nil && s.context().Err() == nil)
	if err != nil {
		s.helper.Log.Debug("housekeeping failed", "lock", s.helper.Address, "error", err)
	}
}

// maxPause is how many heartbeats may lie between two calls of Tend, at most.
const maxPause = 64

// pauseAfter makes housekeeping rarer if it is cut off again and again: on a slow server every
// cut may cost the connection, which the heartbeats need.
func (s *session) pauseAfter(cut bool) {
	if !cut {
		s.pause = 0
		return
	}
	s.skip, s.pause = s.pause, min(2*max(s.pause, 1), maxPause)
}

// skips reports whether this call of Tend is left out, and counts it.
func (s *session) skips() bool {
	if s.skip == 0 {
		return false
	}
	s.skip--
	return true
}

func (s *session) left() time.Duration      { return max(s.confirmed+s.lease-s.now(), 0) }
func (s *session) now() time.Duration       { return s.clock().Now() }
func (s *session) clock() clock.Clock       { return s.helper.Request.Clock }
func (s *session) context() context.Context { return s.helper.Client.Context() }

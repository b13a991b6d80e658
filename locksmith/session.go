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

// A session holds a lock. The moments end and confirmed are readings of the helper's own clock.
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
	logged string        // the last failure in the log
	calls  detached.Line // all but those of Tend
	// tending makes the calls of Tend. Calls of other methods do not wait for them.
	tending detached.Line
	// skip is how many calls of Tend are still to be left out. pause is how many will be left out if
	// the next call is cut off.
	skip, pause int
}

// start tells the client that the lock is held. That may take long, as when a command comes from a
// dead disk, and the client must have the lock when its work begins. So start sends heartbeats
// meanwhile, until MaxHold is over. loss says that the lock was lost, or held for too long, before the
// client was told that it is held.
func (s *session) start(g protocol.Grant) (loss, err error) {
	client := s.helper.Client
	if s.helper.Brief {
		return nil, client.Start(g)
	}
	starting, started := context.WithCancel(context.Background())
	told := detached.GoErr(func() error {
		defer started()
		return client.Start(g)
	})
	for next := s.confirmed + s.every; loss == nil; {
		pause := max(next-s.now(), min(s.every/4, s.lastMoment()-s.now()))
		if told.Await(context.Background(), s.clock(), min(pause, s.end-s.now()), 0) {
			break
		}
		err := s.checkLease(nil)
		if err == nil {
			err = s.overdue()
		}
		if err == nil {
			err = s.beat(starting)
		}
		next = s.confirmed + s.every
		switch {
		case asLoss(err) != nil:
			loss = err
		case err != nil && starting.Err() == nil:
			s.complain("heartbeat failed, trying again", err)
			next = min(s.now()+s.every/4, s.lastMoment())
		}
	}
	if starter, ok := client.(Starter); ok && loss != nil {
		starter.CallOff(asLoss(loss))
	}
	_, err = told.Result()
	if l := asLoss(loss); l != nil { // which may be long ago
		l.Left = min(l.Left, s.left())
	}
	return loss, err
}

// run holds the lock until the client does not want it any more, the lock is lost, or MaxHold is
// over. Then run releases the lock. After a loss it tells the client, and removes what may be left
// (lost). err is the loss if the lock is lost already.
func (s *session) run(err error) error {
	defer func() {
		if !s.tending.Free(context.Background(), 0, 0) {
			s.helper.leaveBehind()
		}
	}()
	if err == nil {
		err = s.keep()
	}
	if loss := asLoss(err); loss != nil && loss.Code == protocol.MaxHold {
		return s.overstay(loss)
	}
	if err == nil {
		s.helper.Log.Debug("releasing", "lock", s.helper.Address, "reason", context.Cause(s.context()))
		s.tellReleasing()
		s.recordSuccess() // for Helper.Once
		err = s.release()
	}
	if err != nil {
		s.lost(err)
	}
	return err
}

// keep is a Helper's state holding. It returns nil when the lock is not wanted any more, and
// otherwise the loss.
func (s *session) keep() error {
	next := s.confirmed + s.every
	quiet, hush := s.listen()
	defer func() { hush() }()
	for deaf := false; ; {
		clock.Sleep(quiet, s.clock(), min(next, s.end)-s.now())
		rang := quiet.Err() != nil
		if rang { // a heartbeat tells what it was about
			quiet, deaf = s.context(), true
		}
		// Look at the clock first: this process may have been stopped, or the machine suspended. If
		// the lock is lost by now, the client hears of it, even if it does not want the lock any more.
		if err := s.checkLease(nil); err != nil {
			return err
		}
		if s.context().Err() != nil {
			return nil
		}
		if err := s.overdue(); err != nil {
			return err
		}
		err := s.beat(s.context())
		if asLoss(err) != nil {
			return err
		}
		if err == nil {
			s.helper.Client.Beat(s.now() - s.confirmed)
			s.tend()
			if deaf && !rang { // so there is one alarm between two heartbeats, even if each is false
				quiet, hush = s.listen()
				deaf = false
			}
		}
		next = s.confirmed + s.every
		if err != nil && s.context().Err() == nil {
			s.missed(err)
			next = min(s.now()+s.every/4, s.lastMoment())
		}
	}
}

// listen returns a context that ends when the lock's place tells that something may have become of it.
func (s *session) listen() (quiet context.Context, alarm context.CancelFunc) {
	quiet, alarm = context.WithCancel(s.context())
	if h, ok := s.hold.(backend.AlarmedHold); ok {
		go h.Alarm(quiet, alarm)
	}
	return quiet, alarm
}

// overdue returns the loss if MaxHold is over.
func (s *session) overdue() error {
	if s.now() < s.end {
		return nil
	}
	err := fmt.Errorf("it was held for %v, as long as it may be", s.helper.Request.Owner.MaxHold)
	return &LossError{Lock: s.helper.Address, Code: protocol.MaxHold, Err: err, Left: min(s.left(), stopTime)}
}

// lastMoment is the moment at which a holder whose heartbeats fail declares the lock lost.
func (s *session) lastMoment() time.Duration { return s.confirmed + protocol.StopAfter(s.lease) }

// beat sends one heartbeat, unless ctx ends. The answer must come by the last moment. If the last
// moment has passed and no heartbeat has failed, this process was stopped. Then the answer must come
// by the end of the lease; if the lock is kept, by a quarter of a lease from now, if that is later.
func (s *session) beat(ctx context.Context) error {
	now := s.now()
	limit, err := s.answerBy(now)
	if err != nil {
		return err
	}
	sent, err := s.send(ctx, now, limit)
	return s.settle(ctx, sent, limit, err)
}

// answerBy is until when a heartbeat that is sent now may be answered. If the last moment has passed and
// the last heartbeat failed, answerBy returns the loss.
func (s *session) answerBy(now time.Duration) (time.Duration, error) {
	limit := s.lastMoment()
	switch {
	case now < limit:
		return limit, nil
	case s.failed != nil:
		return 0, s.expired(s.failed)
	}
	limit = s.confirmed + s.lease
	if s.kept() {
		limit = max(limit, now+s.lease/4)
	}
	return limit, nil
}

// send sends a heartbeat, and returns when the last one was sent that it took, and how that ended.
func (s *session) send(ctx context.Context, now, limit time.Duration) (sent time.Duration, err error) {
	sent = now
	// The call's context ends after a quarter of the lease. If the connection has gone silent, that
	// leaves time for a heartbeat over another connection.
	_, err = s.call(ctx, limit-sent, s.lease/4, s.hold.Heartbeat)
	if now := s.now(); errors.Is(err, backend.ErrNoAnswer) && s.kept() && now > limit+answerTime {
		// The call should have ended by limit, so this process was stopped meanwhile.
		sent = now // another heartbeat decides
		_, err = s.call(ctx, s.lease/4, s.lease/4, s.hold.Heartbeat)
	}
	return sent, err
}

// settle notes how a heartbeat ended, and returns the loss if the lock is lost.
func (s *session) settle(ctx context.Context, sent, limit time.Duration, err error) error {
	// A heartbeat that succeeds after the lease proves nothing, unless the lock is kept: a breaker
	// may have looked at the lock before that heartbeat.
	if err != nil || !s.kept() {
		if loss := s.checkLease(err); loss != nil {
			return loss
		}
	}
	if err == nil || ctx.Err() == nil { // one that was cut off proves no failure
		s.failed = err
	}
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

// renewIfLate makes sure that most of the lease is left before the client hears OK, because the
// client counts the lease from OK. After an eighth of the lease it sends a heartbeat.
func (s *session) renewIfLate() error {
	if s.now() < s.confirmed+s.lease/8 {
		return nil
	}
	if err := s.checkLease(nil); err != nil {
		return err
	}
	return s.beat(s.context())
}

// checkLease returns the loss if the lease is over. A kept lock is lost only after a heartbeat has
// failed. cause is the error of a heartbeat that has just come back, or nil. For ErrGone checkLease
// returns nil, because beat returns that loss.
func (s *session) checkLease(cause error) error {
	switch {
	case errors.Is(cause, backend.ErrGone), s.now() < s.confirmed+s.lease:
		return nil
	case cause == nil && s.failed == nil && s.kept():
		return nil // the next heartbeat decides
	}
	return s.expired(cause)
}

// kept reports whether this host's kernel keeps the lock (backend.KeptHold). While this process
// lives, nobody takes such a lock because its lease is over.
func (s *session) kept() bool { return backend.Kept(s.hold) }

// expired returns the loss of a lock whose lease is over, or nearly over.
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

// tend calls Tend, the backend's housekeeping. The call's context ends after a quarter of the time
// between heartbeats, or when the lock is not wanted any more. After that tend waits for the call
// for another such quarter, but for answerTime at most. A call that hangs longer is left running,
// and nobody waits for it.
func (s *session) tend() {
	if !s.tending.Free(context.Background(), 0, 0) || s.skips() {
		return
	}
	ctx, cancel := clock.WithTimeout(s.context(), s.clock(), s.every/4)
	defer cancel()
	_, err := s.tending.Call(ctx, detached.Bounds{Limit: backend.NoLimit, Grace: min(s.every/4, answerTime)}, s.hold.Tend, nil)
	s.pauseAfter(ctx.Err() != nil && s.context().Err() == nil)
	if err != nil {
		s.helper.Log.Debug("housekeeping failed", "lock", s.helper.Address, "error", err)
	}
}

// maxPause is how many calls of Tend pauseAfter leaves out in a row, at most.
const maxPause = 64

// pauseAfter makes calls of Tend rarer if they are cut off again and again. On a slow server every
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

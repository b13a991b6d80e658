package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

// A Once prevents what the lock guards from being done again too soon, on any host.
type Once struct {
	Per    time.Duration // for this long after a success it is not done again
	Keeper shelf.Keeper
	// Succeeded is called when the lock is not wanted any more. It reports whether the work was
	// done.
	Succeeded func() bool
}

// A RecentError says that the work which the lock guards was not done, because it succeeded a
// short while ago.
type RecentError struct {
	Lock string
	Last backend.Success
	Per  time.Duration
}

func (e *RecentError) Error() string {
	return fmt.Sprintf("%s: not done again: %s, and once in %v is enough", e.Lock, e.Last, e.Per)
}

// keeperTime is how long the lock's place may take to look for a success or record one.
const keeperTime = 10 * time.Second

// checkOnce checks whether it is too soon to do the work again. The lock is held by then, and the
// client has not been told. After an error the lock is released.
func (s *session) checkOnce() error {
	once := s.helper.Once
	if once == nil {
		return nil
	}
	last, err := s.lastSuccess()
	switch {
	case s.context().Err() != nil:
		s.giveBack()
		return s.helper.cancelled(nil)
	case err != nil:
		_, err = s.abandon(err)
		return err
	case last == nil || last.Ago >= once.Per:
		return nil
	case last.Ago < 0:
		s.helper.Log.Warn("the last success does not count: by the clock of the lock's place it is yet to come", "lock", s.helper.Address, "in", -last.Ago)
		return nil
	}
	if last.By != "" { // whoever may write beside the lock can keep its work from being done
		s.helper.Log.Warn("not done again, by the word of another user", "lock", s.helper.Address, "user", last.By, "success", last)
	}
	if err := s.release(); err != nil {
		s.logLoss(asLoss(err))
		return err
	}
	return &RecentError{Lock: s.helper.Address, Last: *last, Per: once.Per}
}

func (s *session) lastSuccess() (*backend.Success, error) {
	limit := min(s.lease/4, keeperTime)
	var last *backend.Success // a call that is left behind may write this later
	back, err := s.call(s.context(), limit, limit, func(ctx context.Context) (err error) {
		last, err = shelf.Last(ctx, s.helper.Once.Keeper, s.hold)
		return err
	})
	if !back {
		return nil, &backend.Error{Code: protocol.Unreachable, Lock: s.helper.Address, Op: "look for the last success", Err: err, Hint: "try again"}
	}
	return last, err
}

// recordSuccess records a success while the lock is held. If others may have taken the lock
// meanwhile (checkLease), it records nothing.
func (s *session) recordSuccess() {
	once := s.helper.Once
	if once == nil || !once.Succeeded() {
		return
	}
	err := s.checkLease(nil)
	if err == nil {
		limit := max(min(s.lastMoment()-s.now(), keeperTime), lastTry)
		_, err = s.call(context.Background(), limit, limit, func(ctx context.Context) error {
			return shelf.Record(ctx, once.Keeper, s.hold)
		})
	}
	if err != nil && asLoss(err) == nil && !errors.Is(err, backend.ErrGone) { // a loss is told anyway
		s.helper.Log.Error("the success is not on record, so that it will be done again", "lock", s.helper.Address, "error", err)
	}
}

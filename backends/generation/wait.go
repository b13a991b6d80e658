package generation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/watch"
)

// Wait implements backend.Attempt. While the place does not answer nothing is known about the
// lock. Then we go on waiting, or Try says so.
func Wait[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C]) error {
	a := s.State()
	a.nextLook = a.Request.Clock.Now() + pause(s)
	for {
		noticed := s.Sleep(ctx, a.untilWork())
		if err := ctx.Err(); err != nil {
			return err
		}
		again, err := poll(ctx, s, noticed)
		switch {
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case again, err != nil && !backend.Passes(err):
			return err
		case err != nil && a.SilenceEndsWait:
			return nil
		}
	}
}

// poll keeps our place in the queue. If we were woken, or it is time to look, it reports whether
// another Try is worth its cost.
func poll[T fmt.Stringer, C Reservation](ctx context.Context, s Steps[T, C], noticed Noticed) (again bool, err error) {
	a := s.State()
	err = a.keepPlace(ctx)
	switch {
	case errors.Is(err, ErrBroken):
		err = a.Withdraw(ctx) // Try makes a new reservation
		return err == nil, err
	case noticed == Nearer && a.Request.Clock.Now() < a.Block.Until: // next time we look whether they take the lock
	case err == nil && noticed == Nothing && a.Request.Clock.Now() < a.nextLook:
		return false, nil
	case err == nil:
		again, err = s.Changed(ctx)
	}
	a.nextLook = a.Request.Clock.Now() + pause(s)
	return again, err
}

// keepPlace is the heartbeat of our place in the queue.
func (a *Attempt[T, C]) keepPlace(ctx context.Context) error {
	if !a.placed() || a.Mine.Own().untilBeat() > 0 {
		return nil
	}
	return a.Mine.Beat(ctx)
}

// untilWork is the time until we look again, or until our next heartbeat.
func (a *Attempt[T, C]) untilWork() time.Duration {
	d := a.nextLook - a.Request.Clock.Now()
	if a.placed() {
		c := a.Mine.Own()
		d = min(d, max(c.untilBeat(), c.Lease/16))
	}
	return max(d, a.MinPause)
}

// pause is how long to wait before we look again.
func pause[T fmt.Stringer, C Reservation](s Steps[T, C]) time.Duration {
	a := s.State()
	now := a.Request.Clock.Now()
	d := s.Pause(now)
	if until := a.Block.Until; until != watch.Never {
		d = min(d, until-now)
	}
	return max(d, a.MinPause)
}

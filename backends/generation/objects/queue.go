package objects

import (
	"context"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/watch"
)

// The queue is made of reservations, in the order in which the store has them. It only
// decides which waiter asks often, and which leaves a free lock to others for a moment.

const (
	// fairTime is how long we leave a free lock to the waiters before us, if our own timeout
	// allows it: a little longer than the first of them may pause.
	fairTime = maxHeadPause + 2*time.Second
	// maxLooks bounds how many of the waiters before us we look at to find one that lives.
	maxLooks = 4
)

// turn lets the waiters before us go first, unless they leave the free lock for too long.
func (a *attempt) turn(ctx context.Context, v view) error {
	next, ahead, err := a.nearest(ctx, v, ticket{})
	if err != nil || ahead == 0 {
		return err
	}
	now := a.Request.Clock.Now()
	until := a.Fairness.Until(now, v.numbers.Newest(), min(fairTime, a.Request.Timeout/2))
	if now >= until {
		return nil
	}
	return a.stop(generation.Block[ticket]{Number: v.numbers.Newest(), Next: next, Ahead: ahead, Until: until}, backend.HeldError{Holder: next.Holder(a.lock.Today()), Queued: true})
}

// held says that the locker that was seen holds the lock, and finds out who waits before us.
func (a *attempt) held(ctx context.Context, v view, s observation) error {
	next, ahead, err := a.nearest(ctx, v, s.Of)
	if err != nil {
		return err
	}
	a.late = 0
	h := s.HolderThere(a.lock.Today(), a.storeTime(v))
	sinceWhen(&h, v, a.lock.Today())
	return a.stop(generation.Block[ticket]{Number: v.numbers.Newest(), Holder: s, Next: next, Ahead: ahead, Until: watch.Never}, backend.HeldError{Holder: h})
}

// sinceWhen corrects the age of a holder of the newest generation.
func sinceWhen(h *backend.Holder, v view, today time.Time) {
	if n := len(v.generations); n > 0 {
		generation.SinceWhen(h, v.generations[n-1].Modified, today)
	}
}

// storeTime estimates the store's clock from our own last heartbeat.
func (a *attempt) storeTime(v view) time.Time {
	mine, _ := v.find(a.Mine.ticket)
	return a.Mine.PlaceTime(v.sign(mine).Modified)
}

// nearest returns the living waiter next before us, and how many wait before us; 0 if none of
// them seems to live. It removes the dead ones that it meets.
func (a *attempt) nearest(ctx context.Context, v view, holder ticket) (observation, int, error) {
	mine, _ := v.find(a.Mine.ticket)
	now := a.storeTime(v)
	line := slices.DeleteFunc(slices.Clone(v.queue), func(p place) bool {
		return p.ticket == holder || p.compare(mine) >= 0 || generation.Silent(now, v.sign(p).Modified, p.ticket.lease)
	})
	for looks := 0; len(line) > 0 && looks < maxLooks; looks++ {
		last := line[len(line)-1]
		s, err := a.Others.Look(ctx, last.ticket)
		switch {
		case absent(err):
		case err != nil:
			return observation{}, 0, a.lock.fail("look at a waiter", err)
		//rule:lives
		case s.Due > 0:
			return s, len(line), nil
		default:
			if err := a.lock.remove(ctx, last.ticket); err != nil {
				return observation{}, 0, err
			}
		}
		line = line[:len(line)-1]
	}
	return observation{}, 0, nil
}

package mkdirlock

import (
	"context"
	"errors"
	"time"
)

// courtesy is whether a newcomer that would share the lock holds back for those
// who wait to have it alone: for a lease of its own at most.
type courtesy struct {
	since time.Duration
	begun bool
	over  bool
}

// yield returns a *backend.HeldError while somebody waits to have the lock alone.
func (a *attempt) yield(ctx context.Context) error {
	if a.courtesy.over {
		return nil
	}
	dir, _ := a.lock.around()
	names, err := a.dir.List(ctx, dir)
	if err != nil && !refused(err) {
		return a.lock.fail("list who waits", err)
	}
	for _, name := range names {
		t, ok := a.lock.parseReservation(name)
		if !ok {
			continue
		}
		s, err := a.others.look(ctx, a.lock.reservation(t), entry{exclusive, t})
		switch {
		case errors.Is(err, errAbsent):
		case err != nil:
			return err
		case s.overIn() == 0:
			_ = a.lock.removeReservation(ctx, a.dir, t) // a courtesy, too
		default:
			return a.letGo(s)
		}
	}
	return nil
}

// letGo holds back for a waiter, if it is not too much.
func (a *attempt) letGo(s observation) error {
	c := &a.courtesy
	now := a.request.Clock.Now()
	if !c.begun {
		c.begun, c.since = true, now
	}
	left := c.since + a.request.Owner.Lease - now
	if left <= 0 {
		c.over = true
		return nil
	}
	s.Due = min(s.overIn(), left)
	_ = a.held(s)
	a.block.yielded = true
	return a.heldAgain()
}

//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
)

// The queue is made of reservations in the order of their tickets. It only decides which waiter
// asks often, and which leaves a free lock to others for a moment. So it may go by outdated
// listings, and may judge by the server's clock who is dead.
//
// A waiter lists the queue when it joins it, and watches its predecessor and the holder. When
// the predecessor has had its turn, it is the waiter's own. So what a turn costs does not depend
// on how many wait. A waiter whose predecessor is gone without a turn lists again. A waiter
// whose predecessor is dead removes it.

const (
	// fairPauses is for how many pauses of the first in the queue we leave it a free lock, if
	// our own timeout allows it.
	fairPauses = 3
	// maxLooks bounds how many of the waiters before us we look at to find one that lives.
	maxLooks = 8
	// maxNear is how many of the waiters before us are known by name; the rest is counted.
	maxNear = 32
	// listEvery: the locker that is to take each eighth generation lists the queue anew. It
	// finds those that lost their turn because they were slow, and lets them go first.
	listEvery = 8
)

// lookAround looks at the directory of reservations.
func (a *attempt) lookAround(ctx context.Context) error {
	sight, err := a.lock.Dir.Look(ctx, Reservations)
	if err != nil {
		return a.lock.Fail("look at the reservations", err)
	}
	a.links = sight.Links
	return nil
}

// turn lets the waiters before us go first, unless they leave the free lock for too long.
// Generation t, which has ended, was target's.
func (a *attempt) turn(ctx context.Context, t uint64, target entry) error {
	// A shared locker has made its reservation after the last look.
	if t == 0 || a.Mine.in.kind == staging {
		if err := a.lookAround(ctx); err != nil {
			return err
		}
	}
	if t%listEvery == 0 {
		a.line = line{}
	}
	return a.holdBack(ctx, t, target, false, min(fairPauses*a.lock.headPause(), a.Request.Timeout/2))
}

// holdBackForWriters holds back a new shared holder while a waiter wants the lock
// exclusively, but for no longer than a lease.
func (a *attempt) holdBackForWriters(ctx context.Context, t uint64, target entry) error {
	return a.holdBack(ctx, t, target, true, a.Request.Owner.Lease)
}

// holdBack leaves generation t, or its successor, to the waiters before us, for limit at most.
func (a *attempt) holdBack(ctx context.Context, t uint64, target entry, joining bool, limit time.Duration) error {
	if a.alone() || a.line.servedUpTo(target) {
		return nil
	}
	next, n, rank, err := a.blocking(ctx, t, target)
	if err != nil || n == 0 {
		return err
	}
	if a.Mine == nil {
		// To tell which of them live we need the server's time, from our own heartbeat.
		return cmp.Or(a.reserve(ctx, staging, t), backend.ErrAgain)
	}
	now := a.Request.Clock.Now()
	until := a.Fairness.Until(now, t, limit)
	if now >= until {
		return nil
	}
	h := next.Holder(a.lock.Today())
	return a.stop(rank, generation.Block[spot]{Number: t, Next: next, Ahead: n, Until: until},
		backend.HeldError{Holder: h, Queued: !joining, Yielding: joining})
}

// blocking returns the living waiter next before us for which we hold back, how many such
// waiters there are, and how many waiters in all.
func (a *attempt) blocking(ctx context.Context, t uint64, target entry) (next observation, n, rank int, err error) {
	if a.Request.Owner.Mode != "shared" {
		next, n, err = a.before(ctx, t, target, target)
		return next, n, n, err
	}
	writers, rank, err := a.waiters(ctx, target, exclusive)
	if err != nil {
		return next, 0, 0, err
	}
	a.listen(writers, target)
	next, i, err := a.nearest(ctx, writers)
	return next, writers.upTo(i), rank, err
}

// alone reports whether there is only one reservation: ours, or the shared directory that we are
// about to join. If the link count does not count subdirectories, alone reads the directory
// instead.
func (a *attempt) alone() bool { return a.links == 3 }

// before returns the living waiter next before us, and how many wait before us; 0 if none of
// them seems to live. target has the lock, or had it. holder is whose bell to listen to. As long
// as our predecessor lives, before lists nobody: there may be thousands.
func (a *attempt) before(ctx context.Context, t uint64, target, holder entry) (next observation, n int, err error) {
	switch {
	case a.line.servedUpTo(target):
		a.line = line{known: true}
		a.listen(front{}, holder)
	case a.line.known:
		lives := false
		next, lives, err = a.living(ctx, a.line.last)
		if lives || err != nil {
			return next, a.line.left(t), err
		}
	}
	if a.line.known && a.line.length == 0 {
		return next, 0, nil
	}
	all, _, err := a.waiters(ctx, target, exclusive, staging)
	if err != nil {
		return next, 0, err
	}
	a.listen(all, holder) // first: we hear who leaves after that, and do not see who left before
	next, i, err := a.nearest(ctx, all)
	n = all.upTo(i)
	if err == nil && a.Mine != nil {
		a.line = line{known: true, number: t, length: n}
		if n > 0 {
			a.line.last = all.near[i]
		}
	}
	return next, n, err
}

// A front is some of the waiters before us.
type front struct {
	near []entry // the nearest, at most maxNear, in the order of the queue
	size int     // how many wait before us in all
}

func (c *front) add(e entry) {
	c.size++
	i, _ := slices.BinarySearchFunc(c.near, e, func(x, y entry) int { return x.ticket.compare(y.ticket) })
	switch {
	case len(c.near) < maxNear:
		c.near = slices.Insert(c.near, i, e)
	case i > 0:
		copy(c.near, c.near[1:i])
		c.near[i-1] = e
	}
}

// upTo is how many wait up to near[i]; for -1, which stands for none, it is 0.
func (c *front) upTo(i int) int {
	if i < 0 {
		return 0
	}
	return c.size - (len(c.near) - 1 - i)
}

// waiters lists the waiters of some kinds before us, and counts all of them. The holder of the
// lock is not one.
func (a *attempt) waiters(ctx context.Context, target entry, kinds ...kind) (some front, all int, err error) {
	names, err := a.lock.names(ctx, Reservations)
	if err != nil {
		return some, 0, a.lock.Fail("list reservations", err)
	}
	for _, name := range names {
		e, ok := parseEntry(name)
		if !ok || e.kind == shared || e == target || !a.follows(e.ticket) {
			continue
		}
		all++
		if slices.Contains(kinds, e.kind) {
			some.add(e)
		}
	}
	return some, all, nil
}

// follows reports whether we come after t. Without a place in the queue we are the last.
func (a *attempt) follows(t ticket) bool {
	switch {
	case a.Mine != nil:
		return t.compare(a.Mine.ticket) < 0
	case a.place != nil:
		return t.compare(*a.place) < 0
	}
	return true
}

// A line is who waited before us when we last listed the queue, with our own place in it. Later
// waiters are behind us, or look after themselves.
type line struct {
	known  bool
	length int    // how many waited
	last   entry  // the waiter next before us, our predecessor, if there was one
	number uint64 // the newest generation then
}

// servedUpTo reports whether all who waited before us, if anybody did, have had their turn. e is
// the entry that has the lock, or had it last: they have if e is our predecessor.
func (l *line) servedUpTo(e entry) bool {
	return l.known && (l.length == 0 || l.last.ticket == e.ticket)
}

// left estimates how many of the line still wait in generation t, because each turn makes one
// generation.
func (l *line) left(t uint64) int {
	return max(1, l.length-int(min(t-l.number, uint64(l.length))))
}

// nearest returns the living waiter next before us, and its index among the nearest, or -1 if
// none of them seems to live. It removes the dead ones that it meets.
func (a *attempt) nearest(ctx context.Context, c front) (observation, int, error) {
	for i := len(c.near) - 1; i >= max(0, len(c.near)-maxLooks); i-- {
		s, lives, err := a.living(ctx, c.near[i])
		if err != nil || lives {
			return s, i, err
		}
	}
	return observation{}, -1, nil
}

// living looks at a waiter, and reports whether it seems to live. It removes a dead one.
func (a *attempt) living(ctx context.Context, e entry) (observation, bool, error) {
	now, err := a.serverTime(ctx)
	if err != nil {
		return observation{}, false, err
	}
	s, err := a.Others.Look(ctx, spot{e.own(), e.ticket})
	switch {
	case absent(err):
		return s, false, nil
	case err != nil:
		return s, false, a.lock.Fail("look at a waiter", err)
	//rule:lives
	case s.Due == 0:
		_, err := a.breakDead(ctx, e, s)
		return s, false, err
	}
	return s, now.IsZero() || !generation.Silent(now, s.Beat, s.Of.ticket.lease), nil
}

// serverTime estimates the server's clock from our own last heartbeat. It is
// zero while we have none.
func (a *attempt) serverTime(ctx context.Context) (time.Time, error) {
	c := a.Mine
	if c == nil {
		return time.Time{}, nil
	}
	if c.beat.IsZero() {
		sight, err := a.lock.Dir.Look(ctx, c.path())
		if absent(err) {
			return time.Time{}, generation.ErrBroken
		}
		if err != nil {
			return time.Time{}, a.lock.Fail("look at our reservation", err)
		}
		c.beat = sight.Modified
	}
	return c.PlaceTime(c.beat), nil
}

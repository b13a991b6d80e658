//go:build unix

package generation

import (
	"cmp"
	"slices"
	"time"

	"locksmith/backends/backend"
)

// The queue is made of reservations in the order of their tickets. It only decides
// which waiter asks often, and which leaves a free lock to others for a moment. So it may
// go by outdated listings, and may judge by the server's clock who is dead.

const (
	// fairPauses is for how many pauses of the first in the queue we leave it a free lock, if
	// our own timeout allows it.
	fairPauses = 3
	// maxLooks bounds how many of those before us are looked at to find one that lives.
	maxLooks = 8
)

// fairness remembers until when we leave the free lock to others.
type fairness struct {
	on         bool
	generation uint64
	since      time.Duration
}

// until returns when we have left generation t to others for as long as d.
func (p *fairness) until(now time.Duration, t uint64, d time.Duration) time.Duration {
	if !p.on || p.generation != t {
		*p = fairness{on: true, generation: t, since: now}
	}
	return p.since + d
}

// lookAround looks at the directory of reservations.
func (a *attempt) lookAround() error {
	sight, err := a.lock.Dir.Look(Reservations)
	if err != nil {
		return a.lock.Fail("look at the reservations", err)
	}
	a.links = sight.Links
	return nil
}

// turn lets the waiters before us go first, unless they do not take the free lock for too
// long.
func (a *attempt) turn(t uint64) error {
	// A shared locker has made its reservation after the last look.
	if t == 0 || a.mine.in.kind == staging {
		if err := a.lookAround(); err != nil {
			return err
		}
	}
	return a.holdBack(t, entry{}, min(fairPauses*a.lock.headPause(), a.request.Timeout/2))
}

// holdBackForWriters holds back a new shared holder while a waiter wants the lock
// exclusively, but for no longer than a lease.
func (a *attempt) holdBackForWriters(t uint64, target entry) error {
	return a.holdBack(t, target, a.request.Owner.Lease)
}

func (a *attempt) holdBack(t uint64, target entry, limit time.Duration) error {
	if a.alone() {
		return nil
	}
	line, err := a.line(target)
	if err != nil {
		return err
	}
	rank := len(line)
	if a.request.Owner.Mode == "shared" {
		line = slices.DeleteFunc(line, func(e entry) bool { return e.kind != exclusive })
	}
	next, n, err := a.nearest(line)
	if err != nil || n == 0 {
		return err
	}
	if a.mine == nil {
		// To tell which of them live we need the server's time, from our own heartbeat.
		return cmp.Or(a.reserve(staging, t), backend.ErrAgain)
	}
	now := a.request.Clock.Now()
	until := a.fairness.until(now, t, limit)
	if now >= until {
		return nil
	}
	h := next.Holder(a.lock.Today())
	return a.stop(block{number: t, next: next, ahead: n, rank: rank, until: until},
		backend.HeldError{Holder: h, Queued: target.kind != shared, Yielding: target.kind == shared})
}

// alone reports that there is only one reservation: ours, or the shared
// directory that we are about to join. A link count that does not count the
// subdirectories makes us read the directory instead.
func (a *attempt) alone() bool { return a.links == 3 }

// line returns the waiters before us, by their tickets.
func (a *attempt) line(target entry) ([]entry, error) {
	names, err := a.lock.names(Reservations)
	if err != nil {
		return nil, a.lock.Fail("list reservations", err)
	}
	var line []entry
	for _, name := range names {
		e, ok := parseEntry(name)
		if ok && e.kind != shared && e != target && a.follows(e.ticket) {
			line = append(line, e)
		}
	}
	slices.SortFunc(line, func(x, y entry) int { return x.ticket.compare(y.ticket) })
	return line, nil
}

// follows reports whether we come after t. Without a place in the queue we are the last.
func (a *attempt) follows(t ticket) bool {
	switch {
	case a.mine != nil:
		return t.compare(a.mine.ticket) < 0
	case a.place != nil:
		return t.compare(*a.place) < 0
	}
	return true
}

// nearest returns the living waiter next before us, and how many wait before us, 0 if
// none of them seems to live. It removes the dead ones that it meets.
func (a *attempt) nearest(line []entry) (observation, int, error) {
	if len(line) == 0 {
		return observation{}, 0, nil
	}
	now, err := a.serverTime()
	if err != nil {
		return observation{}, 0, err
	}
	for i := len(line) - 1; i >= max(0, len(line)-maxLooks); i-- {
		s, err := a.others.look(line[i].own(), line[i].ticket)
		switch {
		case absent(err):
		case err != nil:
			return observation{}, 0, a.lock.Fail("look at a waiter", err)
		case s.Due == 0:
			if _, err := a.breakDead(line[i], s); err != nil {
				return observation{}, 0, err
			}
		case now.IsZero() || now.Sub(s.Beat) < s.ticket.lease:
			return s, i + 1, nil
		}
	}
	return observation{}, 0, nil
}

// serverTime estimates the server's clock from our own last heartbeat. It is
// zero while we have none.
func (a *attempt) serverTime() (time.Time, error) {
	if a.mine == nil {
		return time.Time{}, nil
	}
	sight, err := a.lock.Dir.Look(a.mine.path())
	if absent(err) {
		return time.Time{}, errBroken
	}
	if err != nil {
		return time.Time{}, a.lock.Fail("look at our reservation", err)
	}
	return sight.Modified.Add(a.request.Clock.Now() - a.mine.confirmed), nil
}

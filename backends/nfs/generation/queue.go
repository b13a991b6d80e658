//go:build unix

package generation

import (
	"cmp"
	"slices"
	"time"

	"locksmith/backends/backend"
)

// The queue is made of reservations in the order of their tickets. It decides
// nothing but who asks often, and who holds back for a moment; so what it takes
// for true may be outdated, and the dead may be told from the living by the
// server's clock.

const (
	// fairTime is how long a free lock is left to those before us, by somebody
	// who has the time.
	fairTime = 3 * headPause
	// maxLooks bounds how many before us are looked at for one who lives.
	maxLooks = 8
)

// fairness remembers for how long we have been holding back.
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

// turn lets those go first who wait before us, unless they leave the free lock
// alone for too long.
func (a *attempt) turn(t uint64) error {
	// A shared locker has made its reservation after the last look.
	if t == 0 || a.mine.in.kind == staging {
		if err := a.lookAround(); err != nil {
			return err
		}
	}
	return a.holdBack(t, entry{}, min(fairTime, a.request.Timeout/2))
}

// holdBackForWriters holds a new shared holder back while somebody waits who wants
// the lock alone, but not for longer than a lease.
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
		// Who of them lives we can tell only by our own sign of life.
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

// follows reports whether t is before us. Without a place we are the last.
func (a *attempt) follows(t ticket) bool {
	switch {
	case a.mine != nil:
		return t.compare(a.mine.ticket) < 0
	case a.place != nil:
		return t.compare(*a.place) < 0
	}
	return true
}

// nearest returns the living waiter next before us, and how many wait before
// us: 0 if none seems to live. It removes the dead it meets.
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
			if err := a.breakDead(line[i], s); err != nil {
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

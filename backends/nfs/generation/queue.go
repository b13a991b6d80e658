//go:build unix

package generation

import (
	"cmp"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// The queue is made of reservations in the order of their tickets. It decides
// nothing but who asks often, and who holds back for a moment; so what it takes
// for true may be outdated, and the dead may be told from the living by the
// server's clock.

const (
	// courtesy is how long a free lock is left to those before us, by somebody
	// who has the time.
	courtesy = 3 * headPause
	// maxLooks bounds how many before us are looked at for one who lives.
	maxLooks = 8
)

// politeness remembers for how long we have been holding back.
type politeness struct {
	on         bool
	generation uint64
	since      time.Duration
}

// until returns when we have left generation t to others for as long as d.
func (p *politeness) until(now time.Duration, t uint64, d time.Duration) time.Duration {
	if !p.on || p.generation != t {
		*p = politeness{on: true, generation: t, since: now}
	}
	return p.since + d
}

// A block is what stands in our way: what Wait waits for.
type block struct {
	number  uint64          // the newest generation
	holder  observation     // zero: nobody holds it, or nobody whom we must wait for
	next    observation     // the waiter next before us, if ahead > 0
	keeper  process.Process // whose end may matter, if it can be seen from here
	ahead   int             // how many of those before us block us
	rank    int             // how many wait before us in all
	until   time.Duration   // nobody stops us; we only hold back, until then. watch.Never: somebody does
	reached time.Duration   // when this came to stand in our way
}

// watched is the path of the reservation whose end is our turn, or brings it
// nearer.
func (b *block) watched() string {
	if b.ahead > 0 {
		return b.next.path
	}
	return b.holder.path
}

// findKeeper returns the holder's process, or else the next waiter's.
func (b *block) findKeeper(l *Lock) process.Process {
	if p := owner.KeeperOf(b.holder.Record, l.Keeper); p.PID != 0 {
		return p
	}
	return owner.KeeperOf(b.next.Record, l.Keeper)
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
	return a.yield(t, entry{}, min(courtesy, a.request.Timeout/2))
}

// yieldToWriters holds a new shared holder back while somebody waits who wants
// the lock alone, but not for longer than a lease.
func (a *attempt) yieldToWriters(t uint64, target entry) error {
	return a.yield(t, target, a.request.Owner.Lease)
}

func (a *attempt) yield(t uint64, target entry, limit time.Duration) error {
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
		return cmp.Or(a.reserve(staging, t), errAgain)
	}
	now := a.request.Clock.Now()
	until := a.polite.until(now, t, limit)
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

// held says that generation t is held by the one seen, and finds out who waits
// before us.
func (a *attempt) held(t uint64, target entry, s observation) error {
	line, err := a.line(target)
	if err != nil {
		return err
	}
	next, n, err := a.nearest(line)
	if err != nil {
		return err
	}
	h := s.Holder(a.lock.Today())
	a.lock.sinceWhen(&h, t)
	return a.stop(block{number: t, holder: s, next: next, ahead: n, rank: n, until: watch.Never}, backend.HeldError{Holder: h})
}

// stop remembers what to wait for, and returns the error that says so.
func (a *attempt) stop(b block, err backend.HeldError) error {
	err.Lock, err.Ahead = a.lock.Address, b.ahead
	b.reached = a.request.Clock.Now()
	b.keeper = b.findKeeper(a.lock)
	if old := a.block; old.number == b.number && old.watched() == b.watched() {
		b.reached = old.reached
	}
	a.block = b
	return &err
}

// raced says that others were always faster, or that we were shown outdated
// things all the time. It leaves them a moment.
func (a *attempt) raced() error {
	if err := a.checkSame(); err != nil {
		return err
	}
	return a.stop(block{number: a.known, until: a.request.Clock.Now() + headPause},
		backend.HeldError{Holder: backend.Holder{Verdict: owner.Unknown, Note: "others took turns while we looked"}})
}

//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// How often a waiter asks. The pause grows with the time that nothing has
// happened, so that short holds are followed closely and long ones cost little. It
// grows with the place in the queue, too: then all waiters together ask little more often
// than the first few of them, however many they are, because 1 + 1/2 + 1/3 + … hardly grows.
const (
	minPause  = time.Millisecond
	headPause = 250 * time.Millisecond // at most, for the first in the queue
	// For the others: at least so much for each waiter before them, and at most three times
	// what it is for the first.
	minRankPause = 20 * time.Millisecond
	heardPause   = 100 * time.Millisecond // instead, for those whom somebody before them wakes
	linePause    = 30 * time.Second       // at most
)

// A block is what stands in our way: what Wait waits for.
type block struct {
	number  uint64          // the newest generation
	holder  observation     // zero: nobody holds it, or nobody whom we must wait for
	next    observation     // the waiter next before us, if ahead > 0
	process process.Process // whose end may matter, if it can be seen from here
	ahead   int             // how many of those before us block us
	rank    int             // how many wait before us in all
	until   time.Duration   // we only hold back, until then; watch.Never: somebody stops us
	reached time.Duration   // when this came to stand in our way
}

// watched is the path of the reservation whose end is our turn, or brings it
// nearer.
func (b *block) watched() string {
	if b.ahead > 0 {
		return b.next.Of.path
	}
	return b.holder.Of.path
}

// findProcess returns the next waiter's process, or else the holder's: of those who wait on
// one host only the first is woken when a holder has ended, and not all.
func (a *attempt) findProcess(b *block) process.Process {
	if p := a.lock.ProcessToWatch(b.next.Record); p.PID != 0 || len(a.ears) > 0 {
		return p
	}
	return a.lock.ProcessToWatch(b.holder.Record)
}

// watched is what else to watch than the bells.
func (a *attempt) watched() (string, process.Process) {
	if a.hearsPredecessor() {
		return "", process.Process{}
	}
	return reservationOf(a.block.watched()), a.block.process
}

// held says that generation t is held by the one seen, and finds out who waits
// before us.
func (a *attempt) held(ctx context.Context, t uint64, target entry, s observation) error {
	holder := entry{target.kind, s.Of.ticket}
	next, n, err := a.before(ctx, t, target, holder)
	if err != nil {
		return err
	}
	if a.lock.Bells && n == 0 && s.Verdict == owner.Alive && !a.hearsPredecessor() {
		// It is on this host. If it has gone since we looked, nothing will ring.
		if _, err := a.lock.Dir.Look(ctx, s.Of.path); absent(err) {
			return backend.ErrAgain
		}
	}
	h := s.Holder(a.lock.Today())
	a.lock.sinceWhen(ctx, &h, t)
	return a.stop(block{number: t, holder: s, next: next, ahead: n, rank: n, until: watch.Never}, backend.HeldError{Holder: h})
}

// stop remembers what to wait for, and returns the error that says so.
func (a *attempt) stop(b block, err backend.HeldError) error {
	err.Lock, err.Ahead = string(a.lock.Address), b.ahead
	b.reached = a.request.Clock.Now()
	b.process = a.findProcess(&b)
	if old := a.block; old.number == b.number && old.watched() == b.watched() {
		b.reached = old.reached
	}
	a.block = b
	return &err
}

// raced says that others were always faster, or that we were shown outdated
// things all the time. It leaves them a moment.
func (a *attempt) raced(ctx context.Context) error {
	if err := a.checkSame(ctx); err != nil {
		return err
	}
	return a.stop(block{number: a.known, until: a.request.Clock.Now() + a.lock.headPause()},
		backend.HeldError{Holder: backend.Holder{Verdict: owner.Unknown, Note: "others took turns while we looked"}})
}

// Wait implements backend.Attempt. While the server is away nothing is known about the lock,
// and we go on waiting. The first in the queue asks for the holder's
// reservation only, the others also for the one next before them.
func (a *attempt) Wait(ctx context.Context) error {
	if a.mine == nil && a.request.Owner.Mode == "shared" {
		return a.enqueue(ctx)
	}
	a.nextLook = a.request.Clock.Now() + a.pause()
	for {
		d := a.untilWork()
		end := a.request.Clock.Now() + d
		name, process := a.watched()
		a.lock.Dir.Await(ctx, name, process, d, a.descriptors()...)
		if err := ctx.Err(); err != nil {
			return err
		}
		again, err := a.poll(ctx, a.request.Clock.Now() < end)
		if again || err != nil && !backend.Passes(err) {
			return err
		}
	}
}

// enqueue makes a shared waiter visible; an exclusive one is visible already. It must be
// found out anew who is before us: without a ticket we took ourselves for the last, and
// two waiters that are each behind the other would wait for ever.
func (a *attempt) enqueue(ctx context.Context) error {
	err := a.reserve(ctx, staging, a.block.number)
	if errors.Is(err, backend.ErrAgain) || errors.Is(err, errBroken) {
		return nil // the next Try tells
	}
	return err
}

// poll keeps our place in the queue. If we were woken, or it is time to look, it
// reports whether another Try is worth its cost.
func (a *attempt) poll(ctx context.Context, woken bool) (again bool, err error) {
	err = a.keepPlace(ctx)
	nearer, turn := a.rung()
	switch {
	case errors.Is(err, errBroken):
		err = a.withdraw(ctx) // Try makes a new reservation
		return err == nil, err
	case turn: // or the server is away, which has cost whoever was before us its lock
		again = err == nil && a.changed(ctx)
	case nearer && a.request.Clock.Now() < a.block.until: // next we look whether they take it
	case err == nil && !woken && a.request.Clock.Now() < a.nextLook:
		return false, nil
	case err == nil:
		again = a.changed(ctx)
	}
	a.nextLook = a.request.Clock.Now() + a.pause()
	return again, err
}

// keepPlace is the heartbeat of our place in the queue.
func (a *attempt) keepPlace(ctx context.Context) error {
	if a.mine == nil || a.untilBeat() > 0 {
		return nil
	}
	return a.mine.refresh(ctx)
}

func (a *attempt) untilBeat() time.Duration {
	return a.mine.confirmed + a.mine.ticket.lease/4 - a.request.Clock.Now()
}

// untilWork is the time until we look again, or until our next heartbeat.
func (a *attempt) untilWork() time.Duration {
	d := a.nextLook - a.request.Clock.Now()
	if a.mine != nil {
		d = min(d, max(a.untilBeat(), a.mine.ticket.lease/16))
	}
	return max(d, minPause)
}

// changed reports whether another Try is worth its cost.
func (a *attempt) changed(ctx context.Context) bool {
	b := &a.block
	if a.request.Clock.Now() >= b.until {
		return true
	}
	// Those before us may not judge as we do, or not take a lock that is free.
	return b.ahead > 0 && a.ripe(ctx, &b.next) || b.holder.Of.path != "" && a.ripe(ctx, &b.holder)
}

// ripe reports that what was seen is gone, or may be broken. While nobody knows
// it is not.
func (a *attempt) ripe(ctx context.Context, seen *observation) bool {
	s, err := a.others.Look(ctx, seen.Of)
	if err != nil {
		return absent(err)
	}
	if s.Verdict != seen.Verdict {
		a.block.process = a.findProcess(&a.block)
	}
	*seen = s
	return s.Due == 0
}

func (l *Lock) headPause() time.Duration { return cmp.Or(l.HeadPause, headPause) }

// pause is how long to wait before we look again.
func (a *attempt) pause() time.Duration {
	b := &a.block
	now := a.request.Clock.Now()
	idle := now - b.reached
	d := min(idle/8, a.lock.headPause())
	switch {
	case b.ahead > 0:
		least := minRankPause
		if len(a.ears) > 0 {
			least = heardPause
		}
		d = min(time.Duration(b.rank)*min(max(idle/8, least), 3*a.lock.headPause()), linePause)
	case a.hearsPredecessor():
		d = a.lock.headPause()
	}
	d = a.pauses.NextOr(d)
	for _, s := range []observation{b.holder, b.next} {
		if s.Due > 0 {
			d = min(d, s.Due)
		}
	}
	if b.until != watch.Never {
		d = min(d, b.until-now)
	}
	return max(d, minPause)
}

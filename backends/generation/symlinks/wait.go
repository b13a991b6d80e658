//go:build unix

package symlinks

import (
	"cmp"
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// How often a waiter asks. The pause grows with the time that nothing has happened, so short
// holds are followed closely, and long ones cost little. It also grows with the place in the
// queue. Then all waiters together ask little more often than the first few of them, however
// many they are, because 1 + 1/2 + 1/3 + … hardly grows.
const (
	minPause  = time.Millisecond
	headPause = 250 * time.Millisecond // at most, for the first in the queue
	// For the others: at least so much for each waiter before them, and at most three times the
	// first one's.
	minRankPause = 20 * time.Millisecond
	heardPause   = 100 * time.Millisecond // instead, for waiters that somebody before them wakes
	linePause    = 30 * time.Second       // at most
)

// watched is the path of the reservation whose end is our turn, or brings it nearer.
func watched(b *generation.Block[spot]) string {
	if b.Ahead > 0 {
		return b.Next.Of.path
	}
	return b.Holder.Of.path
}

// findProcess returns the next waiter's process, or else the holder's. So of the waiters on one
// host only the first is woken when a holder has ended, and not all.
func (a *attempt) findProcess(b *generation.Block[spot]) process.Process {
	if p := a.lock.ProcessToWatch(b.Next.Record); p.PID != 0 || len(a.ears) > 0 {
		return p
	}
	return a.lock.ProcessToWatch(b.Holder.Record)
}

// watched is what to watch beside the bells.
func (a *attempt) watched() (string, process.Process) {
	if a.hearsPredecessor() {
		return "", process.Process{}
	}
	return reservationOf(watched(&a.Block)), a.process
}

// held says that the locker that was seen holds generation t, and finds out who waits before us.
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
	h, err := a.aged(ctx, s)
	if err != nil {
		return err
	}
	a.lock.sinceWhen(ctx, &h, t)
	return a.stop(n, generation.Block[spot]{Number: t, Holder: s, Next: next, Ahead: n, Until: watch.Never}, backend.HeldError{Holder: h})
}

// aged describes for people what was seen. If it seems silent for its lease, its age is by the clock
// of the lock's place, where we know that.
func (a *attempt) aged(ctx context.Context, s observation) (backend.Holder, error) {
	today := a.lock.Today()
	if s.Verdict == owner.Alive || today.Sub(s.Beat).Abs() <= s.Lease { // whose clock it is hardly matters then
		return s.Holder(today), nil
	}
	there, err := a.serverTime(ctx)
	return s.HolderThere(today, there), err
}

// stop remembers what to wait for, and how many wait before us in all.
func (a *attempt) stop(rank int, b generation.Block[spot], err backend.HeldError) error {
	a.rank, a.process = rank, a.findProcess(&b)
	same := a.Block.Number == b.Number && watched(&a.Block) == watched(&b)
	return a.Stop(a.Request.Clock.Now(), b, same, err)
}

// Raced implements generation.Steps. We may also have been shown outdated things all the time.
func (a *attempt) Raced(ctx context.Context) error {
	if err := a.checkSame(ctx); err != nil {
		return err
	}
	return a.stop(0, generation.Block[spot]{Number: a.Known, Until: a.Request.Clock.Now() + a.lock.headPause()}, generation.Faster())
}

// Wait implements backend.Attempt. The first in the queue asks only for the holder's
// reservation, the others also for the waiter next before them.
func (a *attempt) Wait(ctx context.Context) error {
	if a.Mine == nil && a.Request.Owner.Mode == "shared" {
		return a.enqueue(ctx)
	}
	return generation.Wait(ctx, a)
}

// Sleep implements generation.Steps.
func (a *attempt) Sleep(ctx context.Context, d time.Duration) generation.Noticed {
	end := a.Request.Clock.Now() + d
	name, process := a.watched()
	a.lock.Dir.Await(ctx, name, process, d, a.descriptors()...)
	nearer, turn := a.rung()
	switch {
	case nearer && !turn:
		return generation.Nearer
	case turn, a.Request.Clock.Now() < end:
		return generation.Something
	}
	return generation.Nothing
}

// enqueue makes a shared waiter visible; an exclusive one is visible already. Then it must be
// found out anew who is before us. Without a ticket we took ourselves for the last, and two
// waiters that are each behind the other would wait for ever.
func (a *attempt) enqueue(ctx context.Context) error {
	err := a.reserve(ctx, staging, a.Block.Number)
	if errors.Is(err, backend.ErrAgain) || errors.Is(err, generation.ErrBroken) {
		return nil // the next Try tells
	}
	return err
}

// Changed implements generation.Steps.
func (a *attempt) Changed(ctx context.Context) (bool, error) {
	b := &a.Block
	if a.Request.Clock.Now() >= b.Until {
		return true, nil
	}
	// The waiters before us may not judge as we do, or not take a lock that is free.
	return b.Ahead > 0 && a.ripe(ctx, &b.Next) || b.Holder.Of.path != "" && a.ripe(ctx, &b.Holder), nil
}

// ripe reports whether what was seen is gone, or may be broken. While nobody knows, it is not.
func (a *attempt) ripe(ctx context.Context, seen *observation) bool {
	s, err := a.Others.Look(ctx, seen.Of)
	if err != nil {
		return absent(err)
	}
	if s.Verdict != seen.Verdict {
		a.process = a.findProcess(&a.Block)
	}
	*seen = s
	return s.Due == 0
}

func (l *Lock) headPause() time.Duration { return cmp.Or(l.HeadPause, headPause) }

// Pause implements generation.Steps.
func (a *attempt) Pause(now time.Duration) time.Duration {
	b := &a.Block
	idle := now - b.Reached
	d := min(idle/8, a.lock.headPause())
	switch {
	case b.Ahead > 0:
		least := minRankPause
		if len(a.ears) > 0 {
			least = heardPause
		}
		d = min(time.Duration(a.rank)*min(max(idle/8, least), 3*a.lock.headPause()), linePause)
	case a.hearsPredecessor():
		d = a.lock.headPause()
	}
	d = a.Pauses.NextOr(d)
	for _, s := range []observation{b.Holder, b.Next} {
		if s.Due > 0 {
			d = min(d, s.Due)
		}
	}
	return d
}

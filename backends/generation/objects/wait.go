package objects

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
)

// How often a waiter asks. Requests cost money, so the pause grows with the time that nothing
// has happened, and with the place in the queue. All waiters together ask little more often than
// the first few of them. A question is one request for one object, and one more for a waiter
// that is not the first.
const (
	minPause     = 10 * time.Millisecond
	maxHeadPause = time.Second      // for the first in the queue
	maxRankPause = 4 * maxHeadPause // for the others, for each waiter before them
	maxPause     = 30 * time.Second
	idlePart     = 16 // of the time that nothing has happened is the pause
)

// stop remembers what to wait for, and that it was just judged.
func (a *attempt) stop(b generation.Block[ticket], err backend.HeldError) error {
	a.judged = a.Request.Clock.Now()
	same := b.Number == a.Block.Number && b.Holder.Of == a.Block.Holder.Of && b.Next.Of == a.Block.Next.Of
	return a.Stop(a.judged, b, same, err)
}

// Sleep implements generation.Steps. A store tells nothing by itself.
func (a *attempt) Sleep(ctx context.Context, d time.Duration) generation.Noticed {
	clock.Sleep(ctx, a.Request.Clock, d)
	return generation.Nothing
}

// Changed implements generation.Steps.
func (a *attempt) Changed(ctx context.Context) (bool, error) {
	b := &a.Block
	now := a.Request.Clock.Now()
	if now >= b.Until {
		return true, nil
	}
	if err := a.advance(ctx); err != nil {
		return false, err
	}
	judge := now-a.judged >= a.judgeTime()
	if judge {
		a.judged = now
	}
	// The waiters before us may not judge as we do, or not take a lock that is free.
	for i, seen := range []*observation{&b.Next, &b.Holder} {
		due := judge || now-a.judged >= seen.Due
		if seen.Of == (ticket{}) || i > 0 && b.Ahead > 0 && !due {
			continue
		}
		if ripe, err := a.ripe(ctx, seen, due); ripe || err != nil {
			return ripe, err
		}
	}
	return false, nil
}

// judgeTime is how long after one look at heartbeats the next is due. A dead locker is noticed
// later by that time at most.
func (a *attempt) judgeTime() time.Duration {
	if a.Block.Ahead > 0 {
		return a.Request.Owner.Lease / 2
	}
	return a.Request.Owner.Lease / 4
}

// advance notes that the queue has moved, because somebody has made the next generation. To list
// everything for that would cost each waiter a dozen times as much, at every turn.
func (a *attempt) advance(ctx context.Context) error {
	b := &a.Block
	for b.Ahead > 0 {
		_, err := a.lock.Store.Head(ctx, generationKey(b.Number+1))
		if unseen(err) { // mostly so; who takes somebody's word for it looks again later
			return nil
		}
		if err != nil {
			return a.failed(err)
		}
		b.Number++
		b.Ahead = max(b.Ahead-1, 1)
		b.Reached, b.Holder = a.Request.Clock.Now(), observation{}
		b.Until = b.Reached + 2*a.Request.Owner.Lease // who has it now must be found out some day
	}
	return nil
}

// ripe reports whether what was seen is gone, or may be broken. It asks for the heartbeat only
// if it is time to judge by that. To see whether a process of this machine lives costs nothing.
func (a *attempt) ripe(ctx context.Context, seen *observation, judge bool) (bool, error) {
	if !judge && a.lock.Verdict(seen.Record) == seen.Verdict {
		_, err := a.lock.Store.Head(ctx, seen.Of.reservation())
		if unseen(err) { // Try makes sure
			return true, nil
		}
		return false, a.failed(err)
	}
	s, err := a.Others.Look(ctx, seen.Of)
	if absent(err) {
		return true, nil
	}
	if err == nil {
		*seen = s
	}
	return err == nil && s.Due == 0, a.failed(err)
}

func (a *attempt) failed(err error) error {
	if err == nil {
		return nil
	}
	return a.lock.fail("look at a reservation", err)
}

// Pause implements generation.Steps.
func (a *attempt) Pause(now time.Duration) time.Duration {
	b := &a.Block
	most := maxHeadPause
	if b.Ahead > 0 {
		most = min(time.Duration(b.Ahead)*maxRankPause, maxPause)
	}
	d := a.Pauses.NextOr(min((now-b.Reached)/idlePart, most))
	for _, s := range []*observation{&b.Holder, &b.Next} {
		if s.Of != (ticket{}) && s.Due > 0 {
			d = min(d, max(s.Due-(now-a.judged), 0))
		}
		if s.Verdict != owner.Unknown && s.Record != nil { // its end can be seen from here
			d = min(d, maxHeadPause)
		}
	}
	return d
}

package objects

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// How often a waiter asks. Requests cost money, so the pause grows with the time that
// nothing has happened, and with the place in the queue: all waiters together ask little
// more often than the first few of them. A question is one request for one object, and one
// more for who is not the first.
const (
	minPause     = 10 * time.Millisecond
	maxHeadPause = time.Second      // for the first in the queue
	maxRankPause = 4 * maxHeadPause // for the others, for each waiter before them
	maxPause     = 30 * time.Second
	idlePart     = 16 // of the time that nothing has happened is the pause
)

// A block is what stands in our way: what Wait waits for.
type block struct {
	holder  observation   // zero: nobody holds it, or nobody whom we must wait for
	next    observation   // the waiter next before us, if ahead > 0
	number  uint64        // the newest generation
	ahead   int           // how many wait before us
	until   time.Duration // when to try anyhow; watch.Never: somebody stops us
	reached time.Duration // when this came to stand in our way
	judged  time.Duration // when both were looked at to judge whether they live
}

// same reports that nothing has changed.
func (b *block) same(old block) bool {
	return b.number == old.number && b.holder.Of == old.holder.Of && b.next.Of == old.next.Of
}

// stop remembers what to wait for, and returns the error that says so.
func (a *attempt) stop(b block, err backend.HeldError) error {
	err.Lock, err.Ahead = string(a.lock.Address), b.ahead
	b.reached = a.request.Clock.Now()
	b.judged = b.reached
	if b.same(a.block) {
		b.reached = a.block.reached
	}
	a.block = b
	return &err
}

// Wait implements backend.Attempt. While the store does not answer nothing is known about
// the lock: Try says so, and we go on waiting.
func (a *attempt) Wait(ctx context.Context) error {
	a.nextLook = a.request.Clock.Now() + a.pause()
	for {
		d, look := a.untilWork()
		clock.Sleep(ctx, a.request.Clock, d)
		if err := ctx.Err(); err != nil {
			return err
		}
		again, err := a.poll(ctx, look)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case unclear(err):
			return nil
		case again, err != nil:
			return err
		}
	}
}

// untilWork is the time until we look again, or until our next heartbeat, if that is earlier.
func (a *attempt) untilWork() (d time.Duration, look bool) {
	d = max(a.nextLook-a.request.Clock.Now(), minPause)
	if a.placed() {
		if beat := max(a.untilBeat(), a.mine.ticket.lease/16); beat < d {
			return beat, false
		}
	}
	return d, true
}

func (a *attempt) untilBeat() time.Duration {
	return a.mine.proven + a.mine.ticket.lease/4 - a.request.Clock.Now()
}

// poll keeps our place in the queue, and may look whether another Try is worth its cost.
func (a *attempt) poll(ctx context.Context, look bool) (again bool, err error) {
	err = a.keepPlace(ctx)
	switch {
	case errors.Is(err, errBroken):
		err = a.withdraw(ctx) // Try makes a new reservation
		return err == nil, err
	case err == nil && !look:
		return false, nil
	case err == nil:
		again, err = a.changed(ctx)
	}
	a.nextLook = a.request.Clock.Now() + a.pause()
	return again, err
}

// keepPlace is the heartbeat of our place in the queue.
func (a *attempt) keepPlace(ctx context.Context) error {
	if !a.placed() || a.untilBeat() > 0 {
		return nil
	}
	if err := a.mine.refresh(ctx); err != nil {
		return err
	}
	return a.mine.present(ctx)
}

// changed reports whether another Try is worth its cost.
func (a *attempt) changed(ctx context.Context) (bool, error) {
	b := &a.block
	now := a.request.Clock.Now()
	if now >= b.until {
		return true, nil
	}
	if err := a.advance(ctx); err != nil {
		return false, err
	}
	judge := now-b.judged >= a.judgeTime()
	if judge {
		b.judged = now
	}
	// Those before us may not judge as we do, or not take a lock that is free.
	for i, seen := range []*observation{&b.next, &b.holder} {
		due := judge || now-b.judged >= seen.Due
		if seen.Of == (ticket{}) || i > 0 && b.ahead > 0 && !due {
			continue
		}
		if ripe, err := a.ripe(ctx, seen, due); ripe || err != nil {
			return ripe, err
		}
	}
	return false, nil
}

// judgeTime is how long after one look at heartbeats the next is due. The longer, the later
// a dead one is noticed, by so much at most.
func (a *attempt) judgeTime() time.Duration {
	if a.block.ahead > 0 {
		return a.request.Owner.Lease / 2
	}
	return a.request.Owner.Lease / 4
}

// advance notes that the queue has moved: somebody has made the next generation. To list it
// all for that would cost each waiter a dozen times as much, at every turn.
func (a *attempt) advance(ctx context.Context) error {
	b := &a.block
	for b.ahead > 0 {
		_, err := a.lock.Store.Head(ctx, generation(b.number+1))
		if unseen(err) { // mostly so; who takes somebody's word for it looks again later
			return nil
		}
		if err != nil {
			return a.failed(err)
		}
		b.number++
		b.ahead = max(b.ahead-1, 1)
		b.reached, b.holder = a.request.Clock.Now(), observation{}
		b.until = b.reached + 2*a.request.Owner.Lease // who has it now must be found out some day
	}
	return nil
}

// ripe reports that what was seen is gone, or may be broken. It asks for the heartbeat only
// if it is time to judge by that; whether a process of this machine lives costs nothing.
func (a *attempt) ripe(ctx context.Context, seen *observation, judge bool) (bool, error) {
	if !judge && a.lock.Verdict(seen.Record) == seen.Verdict {
		_, err := a.lock.Store.Head(ctx, seen.Of.reservation())
		if unseen(err) { // Try makes sure
			return true, nil
		}
		return false, a.failed(err)
	}
	s, err := a.others.Look(ctx, seen.Of)
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

// pause is how long to wait before we look again.
func (a *attempt) pause() time.Duration {
	b := &a.block
	now := a.request.Clock.Now()
	most := maxHeadPause
	if b.ahead > 0 {
		most = min(time.Duration(b.ahead)*maxRankPause, maxPause)
	}
	d := a.pauses.NextOr(min((now-b.reached)/idlePart, most))
	for _, s := range []*observation{&b.holder, &b.next} {
		if s.Of != (ticket{}) && s.Due > 0 {
			d = min(d, max(s.Due-(now-b.judged), 0))
		}
		if s.Verdict != owner.Unknown && s.Record != nil { // its end can be seen from here
			d = min(d, maxHeadPause)
		}
	}
	if b.until != watch.Never {
		d = min(d, b.until-now)
	}
	return max(d, minPause)
}

package mkdirlock

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/owner"
)

// Wait implements backend.Attempt. Who waits shows who he is, and that he lives.
func (a *attempt) Wait(ctx context.Context) error {
	if a.dir == nil {
		return ctx.Err()
	}
	if err := a.showUp(ctx); err != nil {
		return err
	}
	a.fresh = false
	a.dir.Await(ctx, a.lock.lock(), owner.KeeperOf(a.block.seen.record, a.lock.Keeper), a.pause())
	return ctx.Err()
}

// showUp gives our reservation a heartbeat, the first with our record.
func (a *attempt) showUp(ctx context.Context) error {
	c := a.mine
	if c == nil || a.unsure || a.leaving || len(c.beats) > 0 && a.untilBeat() > 0 {
		return nil
	}
	err := c.refresh(ctx)
	if errors.Is(err, errAbsent) {
		err = a.giveUp(ctx)
	}
	if err != nil && passing(err) {
		return nil // the next Try tells
	}
	return err
}

// untilBeat is the time until the next heartbeat of a claim that waits.
func (a *attempt) untilBeat() time.Duration {
	return a.mine.shown + a.lock.waiterBeats(a.mine.entry.ticket.lease) - a.request.Clock.Now()
}

// waiterBeats is how long after a heartbeat that of a waiter is due. In plain style
// only reap, and not before they are older than twice their lease, and an operator
// remove reservations.
func (l *Lock) waiterBeats(lease time.Duration) time.Duration {
	if l.Style == TreeStyle {
		return lease / 4
	}
	return lease
}

// pause is how long to wait before the next Try.
func (a *attempt) pause() time.Duration {
	now := a.request.Clock.Now()
	d := min(max((now-a.block.reached)/8, a.lock.Pace.Min), a.lock.Pace.Max)
	d = a.pauses.NextOr(d)
	if left := a.block.again - now; left > 0 {
		d = min(d, left)
	}
	if a.mine != nil {
		d = min(d, max(a.untilBeat(), a.lock.Pace.Min))
	}
	return d
}

package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
)

// Writers are preferred: while somebody waits to hold the lock exclusively, a newcomer that would
// share it holds back, for its own lease at most. Safety does not depend on this.

// holdBack returns a *backend.HeldError while we hold back.
func (a *attempt) holdBack(ctx context.Context) error {
	if a.deferred {
		return nil
	}
	dir, _ := a.lock.around()
	names, err := a.lock.namesIn(ctx, a.dir, dir, "list who waits")
	if err != nil {
		return err
	}
	for _, t := range a.lock.reservationsIn(names) {
		s, err := a.others.Look(ctx, spot{at: a.lock.reservation(t), entry: labels.Entry{Kind: labels.Exclusive, Ticket: t}})
		switch {
		case errors.Is(err, dirs.ErrAbsent):
		case err != nil:
			return err
		case s.Due == 0:
			_ = a.lock.breakReservation(ctx, a.dir, s) // if this fails, a holder does it
		default:
			return a.holdBackFor(ctx, s)
		}
	}
	return nil
}

// holdBackFor holds back for a waiter, unless we have done so for long enough.
func (a *attempt) holdBackFor(ctx context.Context, s observation) error {
	now := a.request.Clock.Now()
	left := a.fairness.Until(now, 0, a.request.Owner.Lease) - now
	if left <= 0 {
		a.deferred = true
		return nil
	}
	s.Due = min(s.Due, left)
	_ = a.held(ctx, s)
	a.block.heldBack = true
	return a.heldAgain()
}

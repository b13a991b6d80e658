package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
)

// reserve makes our reservation, with our entry in it. That proves that we may make directories
// beside the lock: if we then cannot make the lock, somebody has it.
func (a *attempt) reserve(ctx context.Context) error {
	if a.phase != idle {
		return nil
	}
	c, err := a.newClaim(labels.Exclusive)
	if err != nil {
		return err
	}
	err = a.makeHome(ctx, c)
	if err != nil && !dirs.Unclear(err) && !dirs.Refused(err) {
		return a.lock.fail("make our reservation", err)
	}
	// We go on even after a refusal: a server that crashed, or executed the request twice, refuses
	// what it has done.
	a.mine, a.phase = c, waiting // from here on there is something to remove
	//rule:entry
	entered := a.dir.Mkdir(ctx, c.path())
	switch {
	case dirs.Refused(err) && dirs.Refused(entered):
		a.mine, a.phase = nil, idle
		return a.lock.fail("make our reservation", err)
	case dirs.Unclear(err), dirs.Refused(entered), dirs.Unclear(entered):
		return a.withdrawIncomplete(ctx, errors.Join(err, entered))
	case entered != nil:
		return a.lock.fail("make our reservation", entered)
	}
	if a.disk != nil {
		//rule:pin
		c.pin, _ = a.disk.Stake(ctx, c.home) // a lock needs no pin
	}
	a.phase = fresh
	return nil
}

// makeHome makes the directory of a reservation; in dir style also L around it, if need be.
func (a *attempt) makeHome(ctx context.Context, c *claim) error {
	c.home = a.lock.reservation(c.entry.Ticket)
	c.at = c.home
	err := a.dir.Mkdir(ctx, c.home)
	if dirs.Refused(err) && a.lock.Style == DirStyle {
		if err := a.makeOuter(ctx); err != nil {
			return err
		}
		err = a.dir.Mkdir(ctx, c.home)
	}
	return err
}

// withdrawIncomplete withdraws a reservation whose making may have failed halfway.
func (a *attempt) withdrawIncomplete(ctx context.Context, cause error) error {
	if err := a.withdraw(ctx); err != nil {
		return err
	}
	return backend.Again(a.lock.fail("make our reservation", cause))
}

// makeOuter makes L in dir style, where the lock is in it.
func (a *attempt) makeOuter(ctx context.Context) error {
	err := a.dir.Mkdir(ctx, a.lock.Name)
	if dirs.Unclear(err) {
		err = a.dir.Mkdir(ctx, a.lock.Name) // L is nobody's, so this does no harm
	}
	if err == nil || dirs.Refused(err) || dirs.Unclear(err) {
		return nil // the next call finds out
	}
	return a.lock.fail("make the lock directory", err)
}

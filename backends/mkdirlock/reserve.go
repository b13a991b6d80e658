package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// reserve makes our reservation, with our entry in it. It proves that we may make
// directories beside the lock: if then the lock cannot be made, somebody has it.
func (a *attempt) reserve(ctx context.Context) error {
	if a.phase != idle {
		return nil
	}
	c, err := a.newClaim(exclusive)
	if err != nil {
		return err
	}
	err = a.makeHome(ctx, c)
	if err != nil && !unclear(err) && !refused(err) {
		return a.lock.fail("make our reservation", err)
	}
	// Even if it was refused: a server that crashed, or executed the request
	// twice, says so of what is there.
	a.mine, a.phase = c, waiting // from here on there is something to remove
	entered := a.dir.Mkdir(ctx, c.path())
	switch {
	case refused(err) && refused(entered):
		a.mine, a.phase = nil, idle
		return a.lock.fail("make our reservation", err)
	case unclear(err), refused(entered), unclear(entered):
		return a.withdrawIncomplete(ctx, errors.Join(err, entered))
	case entered != nil:
		return a.lock.fail("make our reservation", entered)
	}
	if a.disk != nil {
		c.pin, _ = a.disk.Stake(ctx, c.home) // without a pin it is a lock still
	}
	a.met, a.phase = true, fresh
	return nil
}

// makeHome makes the directory of a reservation, and that which it is in.
func (a *attempt) makeHome(ctx context.Context, c *claim) error {
	c.home = a.lock.reservation(c.entry.ticket)
	c.at = c.home
	err := a.dir.Mkdir(ctx, c.home)
	if refused(err) && a.lock.Style == TreeStyle {
		if err := a.makeTree(ctx); err != nil {
			return err
		}
		err = a.dir.Mkdir(ctx, c.home)
	}
	return err
}

// tryRemoving makes a reservation and removes it, before there is anything of the lock: a
// user that may make directories but not remove them could never release it. That is two
// requests, once in an attempt; nothing else that is done before we hold tells.
func (a *attempt) tryRemoving(ctx context.Context) error {
	c, err := a.newClaim(exclusive)
	if err != nil {
		return err
	}
	made := a.makeHome(ctx, c)
	if made != nil && !unclear(made) && !refused(made) {
		return a.lock.fail("make our reservation", made)
	}
	a.mine, a.phase = c, leaving
	removed := a.dir.Rmdir(ctx, c.home)
	switch {
	case unclear(made), unclear(removed):
		return a.withdrawIncomplete(ctx, errors.Join(made, removed))
	case refused(made) && refused(removed):
		a.mine, a.phase = nil, idle // it never was there
		return a.lock.fail("make our reservation", made)
	case refused(removed), errors.Is(removed, fs.ErrPermission):
		if err := a.mustBeRemoved(ctx, c, removed); err != nil {
			return err
		}
	case removed != nil:
		return a.lock.fail("remove our reservation", removed)
	}
	a.mine, a.phase, a.removes = nil, idle, true
	return nil
}

// mustBeRemoved returns nil if a reservation is gone: a server that crashed refuses what it
// has done.
func (a *attempt) mustBeRemoved(ctx context.Context, c *claim, cause error) error {
	there, err := a.lock.exists(ctx, a.dir, c.home)
	switch {
	case err != nil:
		return a.lock.fail("look for our reservation", err)
	case !there:
		return nil
	}
	a.mine, a.phase = nil, idle // to ask again would not help
	return a.lock.error(protocol.CannotCreate, "try to remove what we make", fmt.Errorf("%s had to stay: %w", backend.Quoted(c.home), cause),
		"this user may make directories there, but not remove them, so that no lock is ever released: see locksmith doctor")
}

// withdrawIncomplete withdraws a reservation whose making may have failed halfway.
func (a *attempt) withdrawIncomplete(ctx context.Context, cause error) error {
	if err := a.withdraw(ctx); err != nil {
		return err
	}
	return a.lock.again("make our reservation", cause)
}

// makeTree makes the directory that the lock is in.
func (a *attempt) makeTree(ctx context.Context) error {
	err := a.dir.Mkdir(ctx, a.lock.Name)
	if unclear(err) {
		err = a.dir.Mkdir(ctx, a.lock.Name) // it is nobody's, so this does no harm
	}
	if err == nil || refused(err) || unclear(err) {
		return nil // the next call finds out
	}
	return a.lock.fail("make the lock directory", err)
}

package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
)

// tryRemoving makes a reservation and removes it, before there is anything of the lock: a user
// that may make directories but not remove them could never release the lock. That costs two
// requests, once in an attempt. Nothing else that we do before we hold the lock tells.
func (a *attempt) tryRemoving(ctx context.Context) error {
	if err := a.tryRemembered(ctx); err != nil || a.removes {
		return err
	}
	c, err := a.newClaim(labels.Exclusive)
	if err != nil {
		return err
	}
	made := a.makeHome(ctx, c)
	if made != nil && !dirs.Unclear(made) && !dirs.Refused(made) {
		return a.lock.fail("make our reservation", made)
	}
	a.mine, a.phase = c, leaving
	removed := a.dir.Rmdir(ctx, c.home)
	switch {
	case dirs.Unclear(made), dirs.Unclear(removed):
		return a.withdrawIncomplete(ctx, errors.Join(made, removed))
	case dirs.Refused(made) && dirs.Refused(removed):
		a.mine, a.phase = nil, idle // it never was there
		return a.lock.fail("make our reservation", made)
	case dirs.Refused(removed), errors.Is(removed, fs.ErrPermission):
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
	if a.request.Memory != nil {
		a.request.Memory.Since(c.entry.Ticket.ID, hasToStay, a.request.Clock.Now())
	}
	return a.lock.stays(c.home, cause)
}

// stays is the error of a place where what we make cannot be removed; name is the proof.
func (l *Lock) stays(name string, cause error) error {
	return l.Address.Failure(protocol.CannotCreate, "try to remove what we make", fmt.Errorf("%s had to stay: %w", backend.Quoted(name), cause),
		"this user may make directories there, but not remove them, so that no lock is ever released: see locksmith doctor")
}

// hasToStay is the sign under which the memory keeps a reservation that could not be removed.
const hasToStay = "it has to stay"

// tryRemembered tries to remove what earlier tries had to leave, so that tries that fail for this
// reason do not each leave another. If nothing such is remembered, it asks the server nothing.
func (a *attempt) tryRemembered(ctx context.Context) error {
	if a.request.Memory == nil {
		return nil
	}
	known := a.request.Memory.Known(hasToStay)
	if len(known) == 0 {
		return nil
	}
	around, _ := a.lock.around()
	names, err := a.dir.List(ctx, around)
	if err != nil {
		return nil // if that matters, the next request tells
	}
	left := map[string]labels.Ticket{}
	for _, t := range a.lock.reservationsIn(names) {
		left[t.ID] = t
	}
	for _, id := range known {
		if t, ok := left[id]; ok {
			if err := a.removeRemembered(ctx, a.lock.reservation(t)); err != nil {
				return err
			}
		}
		a.request.Memory.Since(id, "it is gone", a.request.Clock.Now())
	}
	return nil
}

// removeRemembered returns nil if what was left is gone.
func (a *attempt) removeRemembered(ctx context.Context, name string) error {
	err := a.dir.Rmdir(ctx, name)
	switch {
	case err == nil:
		a.removes = true
		return nil
	case !dirs.Refused(err) && !errors.Is(err, fs.ErrPermission):
		return a.lock.fail("remove what an earlier try left", err)
	}
	there, unread := a.lock.exists(ctx, a.dir, name)
	switch {
	case unread != nil:
		return a.lock.fail("look for what an earlier try left", unread)
	case there:
		return a.lock.stays(name, err)
	}
	return nil
}

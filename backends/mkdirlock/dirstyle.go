package mkdirlock

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
)

// takeExclusive acquires a lock in dir style exclusively:
//
//	1  make a reservation in L, with our entry in it
//	2  rename the reservation to L/lock, which is missing or empty; refused -> look who
//	   has the lock
//	3  the first heartbeat, in L/lock: our entry is there
//
// An empty L/lock is free, and anybody may remove it.
func (a *attempt) takeExclusive(ctx context.Context) (*hold, error) {
	if err := a.reserve(ctx); err != nil {
		return nil, err
	}
	if a.phase == unsure {
		return a.settleDirStyle(ctx)
	}
	a.mine.Confirmed = a.request.Clock.Now()
	err := a.dir.Rename(ctx, a.mine.home, a.lock.lock())
	switch {
	case err == nil:
		//rule:entered
		return a.enterDirStyle(ctx)
	case dirs.Unclear(err):
		a.phase = unsure
		return a.settleDirStyle(ctx)
	case dirs.Refused(err), dirs.Forbidden(err):
		return nil, a.lookDirStyle(ctx, err)
	}
	return nil, a.lock.fail("rename our reservation to the lock", err)
}

func (a *attempt) settleDirStyle(ctx context.Context) (*hold, error) {
	h, err := a.settle(ctx)
	return a.withToken(ctx, h, err)
}

func (a *attempt) enterDirStyle(ctx context.Context) (*hold, error) {
	h, err := a.enter(ctx)
	return a.withToken(ctx, h, err)
}

// lookDirStyle looks who has the lock, and breaks the dead. It returns backend.ErrAgain,
// dirs.ErrAbsent or a *backend.HeldError.
func (a *attempt) lookDirStyle(ctx context.Context, cause error) error {
	if !a.lookDue() {
		return a.heldAgain()
	}
	names, err := a.lock.namesIn(ctx, a.dir, a.lock.lock(), "list the lock directory")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return a.removeEmpty(ctx, cause)
	}
	entries := labels.EntriesIn(names)
	a.others.Keep(oneOf(a.lock.lock(), entries))
	if a.phase != idle && slices.Contains(entries, a.mine.entry) {
		a.phase = unsure // our commit was executed, though it seemed refused
		return backend.ErrAgain
	}
	first, err := a.breakDead(ctx, entries)
	switch {
	case err != nil:
		return err
	case first != nil:
		return a.held(ctx, *first)
	case len(entries) == 0:
		return a.heldByNobody(ctx, names, false)
	}
	return backend.ErrAgain
}

// removeEmpty follows a rename that was refused though the lock is empty or missing. The lock was
// just released; or our reservation is gone; or the server never renames onto an existing
// directory.
func (a *attempt) removeEmpty(ctx context.Context, cause error) error {
	if err := a.mustBeHome(ctx); err != nil {
		return err // perhaps somebody removed our reservation after we were silent for long
	}
	if err := a.dir.Rmdir(ctx, a.lock.lock()); err != nil && !dirs.Refused(err) && !dirs.Unclear(err) {
		return a.lock.fail("remove the empty lock directory", err)
	}
	return backend.Again(a.lock.fail("rename our reservation to the lock", cause))
}

// breakDead removes those of these entries in the lock that are due. Of the others it returns the
// one that is due first, or nil.
func (a *attempt) breakDead(ctx context.Context, entries []labels.Entry) (*observation, error) {
	var first *observation
	for _, e := range entries {
		s, err := a.others.Look(ctx, spot{at: a.lock.lock(), entry: e})
		if errors.Is(err, dirs.ErrAbsent) {
			continue
		}
		if err == nil && s.Due == 0 {
			if err = a.lock.breakSeen(ctx, a.dir, s); err == nil {
				a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
			}
			switch {
			case err == nil, errors.Is(err, dirs.ErrAbsent):
				continue
			case errors.Is(err, dirs.ErrRevived):
				err, s.Due = nil, s.Of.entry.Ticket.Lease
			}
		}
		if err != nil {
			return nil, err
		}
		if first == nil || s.Due < first.Due {
			first = &s
		}
	}
	return first, nil
}

// takeShared acquires a lock in dir style to share it:
//
//	1  make our entry in L/lock; L/lock is missing -> make that first
//	2  a heartbeat: our entry is there
//	3  list L/lock: our entry is missing -> new ticket; any exclusive entry -> held;
//	   none -> it is ours
//	4  a heartbeat, unless step 2 has just made one: the lease begins
//
// From 1 on L/lock is not empty, so nobody can come to hold it exclusively.
func (a *attempt) takeShared(ctx context.Context) (*hold, error) {
	//rule:list-after
	if a.phase == idle {
		if err := a.holdBack(ctx); err != nil {
			return nil, err
		}
		if err := a.join(ctx); err != nil {
			return nil, err
		}
	}
	beats := len(a.mine.beats) == 0 || a.untilBeat() <= 0
	if beats {
		if err := a.mine.refresh(ctx); err != nil {
			return nil, err
		}
	}
	//rule:list
	names, err := a.lock.namesIn(ctx, a.dir, a.lock.lock(), "list the lock directory")
	if err != nil {
		return nil, err
	}
	var before []labels.Entry
	there := false
	for _, e := range labels.EntriesIn(names) {
		if e.Kind == labels.Exclusive {
			before = append(before, e)
		}
		there = there || e == a.mine.entry
	}
	//rule:there
	if !there || a.mine.late() {
		return nil, dirs.ErrAbsent
	}
	first, err := a.breakDead(ctx, before)
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		return nil, a.held(ctx, *first)
	case len(before) > 0:
		return nil, backend.ErrAgain
	}
	//rule:beats
	if !beats && !a.lock.Tokens {
		// The helper counts the lease from this Try on, and others from our last heartbeat.
		// withToken makes one in any case.
		if err := a.mine.refresh(ctx); err != nil {
			return nil, err
		}
	}
	return a.withToken(ctx, a.hold(), nil)
}

// join is step 1.
func (a *attempt) join(ctx context.Context) error {
	c, err := a.newClaim(labels.Shared)
	if err != nil {
		return err
	}
	c.at, c.inLock = a.lock.lock(), true
	err = a.dir.Mkdir(ctx, c.path())
	if dirs.Refused(err) {
		if err := a.makeInner(ctx); err != nil {
			return err
		}
		err = a.dir.Mkdir(ctx, c.path())
	}
	switch {
	case err == nil, dirs.Unclear(err):
		a.mine, a.phase = c, fresh // if our entry is not there, the heartbeat tells
		return nil
	case dirs.Refused(err):
		a.mine, a.phase = c, leaving // a server that crashed refuses what it has done
		if err := a.withdraw(ctx); err != nil {
			return err
		}
		return backend.Again(a.lock.fail("make our entry in the lock", err))
	}
	return a.lock.fail("make our entry in the lock", err)
}

// makeInner makes L/lock, and L if need be.
func (a *attempt) makeInner(ctx context.Context) error {
	err := a.dir.Mkdir(ctx, a.lock.lock())
	if dirs.Refused(err) {
		if err := a.makeOuter(ctx); err != nil {
			return err
		}
		err = a.dir.Mkdir(ctx, a.lock.lock())
	}
	if err == nil || dirs.Refused(err) || dirs.Unclear(err) {
		return nil // the next call finds out
	}
	return a.lock.fail("make the lock directory", err)
}

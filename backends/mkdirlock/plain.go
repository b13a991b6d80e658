package mkdirlock

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/watch"
)

// takePlain acquires a lock in plain style:
//
//	1  make a reservation beside L, with our entry in it
//	2  gate: make L; it exists -> look who has it
//	3  commit: rename the reservation onto L, which is empty and ours
//	4  the first heartbeat, in L: our entry is there
//
// On a Disk step 3 is the gate as well: it fails if there is an L that is not ours.
//
// After we broke a dead holder's entry the emptied L is ours as if we had made it, and we
// go on with 3. No other locker touches an empty L while its owner lives.
func (a *attempt) takePlain(ctx context.Context) (*hold, error) {
	if err := a.reserve(ctx); err != nil {
		return nil, err
	}
	if a.phase == unsure {
		return a.settle(ctx)
	}
	if err := a.passGate(ctx); err != nil {
		return nil, err
	}
	return a.commit(ctx)
}

// passGate is step 2. It returns nil when L is ours; or, where the commit is the gate, if
// no L of ours is in the commit's way.
func (a *attempt) passGate(ctx context.Context) error {
	switch {
	case a.gate == renaming:
		return a.removeLock(ctx)
	case a.owned, a.gate == oneStep:
		return nil
	}
	return a.makeLock(ctx)
}

// makeLock makes L. It returns nil when L is ours.
func (a *attempt) makeLock(ctx context.Context) error {
	err := a.dir.Mkdir(ctx, a.lock.lock())
	switch {
	case err == nil:
		a.own(nil)
		return nil
	case dirs.Refused(err):
		return a.look(ctx, false)
	case dirs.Unclear(err):
		// An empty L may now be ours, or that of a program that uses mkdir alone.
		// To ask again would not tell.
		return a.look(ctx, true)
	}
	return a.lock.fail("make the lock directory", err)
}

// commit is step 3. Our reservation may have been removed while we waited: then L
// would be empty, and nothing would tell whose it is.
func (a *attempt) commit(ctx context.Context) (*hold, error) {
	gated := a.gate == oneStep && !a.owned
	if (a.owned || gated) && (a.phase != fresh || a.mine.old()) {
		if err := a.mustBeHome(ctx); err != nil {
			return nil, err
		}
	}
	a.mine.confirmed = a.request.Clock.Now()
	err := a.move(ctx, gated)
	switch {
	case err == nil:
		a.disclaim() // if our entry is gone now, it was broken
		return a.enter(ctx)
	case gated && errors.Is(err, errors.ErrUnsupported):
		a.gate = twoSteps
		return nil, backend.ErrAgain
	case dirs.Refused(err) && (gated || a.gate == renaming):
		return nil, a.taken(ctx, err)
	case dirs.Refused(err), dirs.Unclear(err):
		a.phase = unsure
		h, settled := a.settle(ctx)
		if settled == backend.ErrAgain && dirs.Refused(err) && a.owned {
			settled = a.tryOverwriting(ctx)
		}
		return h, settled
	}
	return nil, a.lock.fail("rename our reservation to the lock", err)
}

// move renames our reservation to the lock. gated: it replaces nothing.
func (a *attempt) move(ctx context.Context, gated bool) error {
	if gated {
		return a.disk.RenameNew(ctx, a.mine.home, a.lock.lock())
	}
	return a.dir.Rename(ctx, a.mine.home, a.lock.lock())
}

// settle finds out what became of a commit: the lock is ours if our entry is in
// it. If the entry still is in the reservation, nothing has happened, and an L that was
// ours still is. If the entry is nowhere, it was in the lock, and was broken: then L belongs
// to the breaker.
func (a *attempt) settle(ctx context.Context) (*hold, error) {
	h, err := a.enter(ctx)
	if !errors.Is(err, dirs.ErrAbsent) {
		return h, err
	}
	if err = a.mustBeHome(ctx); errors.Is(err, dirs.ErrAbsent) {
		a.disclaim()
	}
	if err != nil {
		return nil, err
	}
	a.mine.at, a.phase = a.mine.home, fresh
	return nil, backend.ErrAgain
}

// mustBeHome returns dirs.ErrAbsent if our entry is not in our reservation.
func (a *attempt) mustBeHome(ctx context.Context) error {
	if a.mine.home == "" {
		return dirs.ErrAbsent
	}
	return a.lock.mustBeThere(ctx, a.dir, a.mine.home+"/"+a.mine.entry.String(), "look for our entry")
}

// tryOverwriting finds out whether the server ever renames onto an existing directory.
// Where it does not, the commit is a gate itself, and an empty L of ours is in its way.
func (a *attempt) tryOverwriting(ctx context.Context) error {
	from, to := a.probe(), a.probe()
	made, moved, stays := a.tryRename(ctx, from, to, []string{from, to}, []string{from, to})
	switch {
	case stays != nil:
		return a.lock.fail("remove a directory beside the lock", stays)
	case made != nil:
		return a.lock.fail("make a directory beside the lock", made)
	case moved == nil:
		// It does. So there is something in L, and L is not ours: somebody removed our
		// own. If the refusal had no reason, our empty L stays; to try again might hit
		// an L that somebody has made meanwhile.
		a.disclaim()
		return backend.ErrAgain
	case dirs.Refused(moved):
		if a.gate == twoSteps {
			a.gate = renaming
		}
		return errors.Join(backend.Again(a.lock.fail("rename our reservation to the lock", moved)), a.removeLock(ctx))
	}
	return a.lock.fail("rename a directory beside the lock", moved)
}

// probe names a directory that others take for an empty reservation and nothing else.
func (a *attempt) probe() string {
	return a.lock.reservation(labels.Ticket{Lease: a.request.Owner.Lease, ID: a.lock.NewID()})
}

// taken follows a commit that the server refused: somebody has the lock, or we broke a
// dead holder and own the empty L.
func (a *attempt) taken(ctx context.Context, cause error) error {
	if a.lookDue() && (a.gate != oneStep || !errors.Is(cause, fs.ErrExist)) {
		// There may be no L, for the commit made none. Look from above: some servers
		// cannot list an empty L.
		there, err := a.lock.exists(ctx, a.dir, a.lock.Name)
		switch {
		case err != nil:
			return a.lock.fail("look for the lock directory", err)
		case !there:
			return backend.Again(a.lock.fail("rename our reservation to the lock", cause))
		}
	}
	err := a.look(ctx, false)
	if err == nil && a.gate == renaming {
		err = a.removeLock(ctx)
	}
	if err == nil || errors.Is(err, backend.ErrAgain) {
		return backend.Again(a.lock.fail("rename our reservation to the lock", cause))
	}
	return err
}

// look sees who has the lock. doubt: an empty L may be ours. nil means that the holder was
// dead, we broke it, and L is ours. Otherwise the error is a *backend.HeldError, or
// backend.ErrAgain.
func (a *attempt) look(ctx context.Context, doubt bool) error {
	if !a.lookDue() && !doubt {
		return a.heldAgain()
	}
	if e := a.block.seen.Of.entry; e != (labels.Entry{}) && !doubt {
		s, err := a.others.Look(ctx, spot{at: a.lock.lock(), entry: e})
		switch {
		case err == nil && len(s.Of.inside) > 0:
			return a.judge(ctx, s) // the same as before; what is gone, some servers list as empty
		case err != nil && !errors.Is(err, dirs.ErrAbsent):
			return err
		}
	}
	names, err := a.dir.List(ctx, a.lock.lock())
	switch {
	case dirs.Refused(err):
		return a.vanished()
	case err != nil:
		return a.lock.fail("list the lock directory", err)
	}
	entries := labels.EntriesIn(names)
	switch {
	case len(names) == 0 && a.removeAbandoned(ctx):
		return backend.ErrAgain
	case len(entries) == 0:
		return a.heldByNobody(names, doubt)
	}
	if a.phase != idle && slices.Contains(entries, a.mine.entry) {
		a.phase = unsure // a commit that seemed refused has arrived
		return backend.ErrAgain
	}
	s, err := a.others.Look(ctx, spot{at: a.lock.lock(), entry: entries[0]})
	if errors.Is(err, dirs.ErrAbsent) {
		return backend.ErrAgain
	}
	if err != nil {
		return err
	}
	return a.judge(ctx, s)
}

// judge decides whether a holder may be broken, and does it.
func (a *attempt) judge(ctx context.Context, s observation) error {
	if s.Due > 0 {
		return a.held(s)
	}
	if !dirs.MayRemove(a.dir, a.lock.lock()) {
		s.Due, s.Note = watch.Never, backend.StickyNote
		return a.held(s)
	}
	return a.breakPlain(ctx, s)
}

// breakPlain removes a dead holder's entry. It returns nil if our removal succeeded.
func (a *attempt) breakPlain(ctx context.Context, s observation) error {
	pin, err := a.lock.pin(ctx, a.dir, s.Of.at)
	if err != nil {
		return err
	}
	if err = a.lock.breakSeen(ctx, a.dir, s); err == nil {
		a.own(pin)
		a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
		return nil
	}
	dirs.Unpin(pin)
	switch {
	case errors.Is(err, dirs.ErrAbsent):
		return backend.ErrAgain
	case errors.Is(err, dirs.ErrRevived):
		s.Due = s.Of.entry.Ticket.Lease
		return a.held(s)
	case dirs.Unclear(err):
		return backend.Again(err)
	}
	return err
}

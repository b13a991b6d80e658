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

// takePlain acquires a lock in plain style, in which L itself is the lock (see the package
// comment):
//
//	1  make a reservation beside L, with our entry in it
//	2  gate: make L; if L exists -> look who has it
//	3  commit: rename the reservation onto L, which is empty and ours
//	4  the first heartbeat, in L, proves that our entry is there
//
// In two kinds of place step 3 is the gate, and there is no step 2. On a Disk (oneStep) the
// commit fails if there is an L that is not ours. On a server that never renames onto an
// existing directory (renaming) it fails if there is any L, so before it we remove an empty L
// that is ours.
//
// After we broke a dead holder's entry, the emptied L is ours as if we had made it. We go on
// with step 3. No other locker touches an empty L while its owner lives.
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

// passGate is step 2. After nil the commit may follow: L is ours, or the commit is the gate
// and no L of ours is in its way.
func (a *attempt) passGate(ctx context.Context) error {
	switch {
	case a.gate == renaming:
		//rule:own-empty
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
		return a.look(ctx)
	case dirs.Unclear(err):
		// There may now be an empty L. It is ours, or that of a program that uses mkdir
		// alone. A second mkdir would be refused in both cases, and not tell which.
		//rule:unclear
		return a.survey(ctx, true)
	}
	return a.lock.fail("make the lock directory", err)
}

// commit is step 3. Somebody may have removed our entry from the reservation. If we renamed
// the reservation then, L would be empty, and nothing would tell whose it is. So commit first
// looks whether the entry is there. It need not if we have made or seen the entry since the
// last Wait, and less than a lease ago.
func (a *attempt) commit(ctx context.Context) (*hold, error) {
	asNew := a.gate == oneStep && !a.owned
	//rule:fresh
	if a.phase != fresh || a.mine.Overdue() {
		if err := a.mustBeHome(ctx); err != nil {
			return nil, err
		}
	}
	a.mine.Confirmed = a.request.Clock.Now()
	err := a.move(ctx, asNew)
	switch {
	case err == nil:
		a.disclaim() // L is not empty any more; if our entry is gone by now, L is the breaker's
		return a.enter(ctx)
	case asNew && errors.Is(err, errors.ErrUnsupported):
		//rule:gate
		a.gate = twoSteps
		return nil, backend.ErrAgain
	case dirs.Refused(err) && (asNew || a.gate == renaming):
		return nil, a.taken(ctx, err)
	//rule:unsure
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

// move renames our reservation to the lock. asNew: the rename fails if there is an L,
// even an empty one.
func (a *attempt) move(ctx context.Context, asNew bool) error {
	if asNew {
		//rule:new
		return a.disk.RenameNew(ctx, a.mine.home, a.lock.lock())
	}
	return a.dir.Rename(ctx, a.mine.home, a.lock.lock())
}

// settle finds out what became of a commit. If our entry is in the lock, the lock is ours. If
// the entry is still in the reservation, nothing has happened: the error is backend.ErrAgain,
// and an L that was ours is still ours. If the entry is in neither, somebody has removed it.
// Then the error is dirs.ErrAbsent, and L does not count as ours, because it belongs to the
// breaker if the entry was in it. The same follows if the entry in the lock was silent for a
// lease.
func (a *attempt) settle(ctx context.Context) (*hold, error) {
	h, err := a.enter(ctx)
	if !errors.Is(err, dirs.ErrAbsent) {
		return h, err
	}
	//rule:home
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

// tryOverwriting finds out whether the server ever renames onto an existing directory. If it
// does not, the commit is the gate from now on, and an empty L of ours is in the commit's way.
// So tryOverwriting removes that L.
func (a *attempt) tryOverwriting(ctx context.Context) error {
	from, to := a.probe(), a.probe()
	made, moved, stays := a.tryRename(ctx, from, to, []string{from, to}, []string{from, to})
	switch {
	case stays != nil:
		return a.lock.fail("remove a directory beside the lock", stays)
	case made != nil:
		return a.lock.fail("make a directory beside the lock", made)
	case moved == nil:
		// The server does. So it refused the commit because something is in L. Then L is not
		// ours: somebody has removed ours. If the server had another reason to refuse, our
		// empty L stays. We do not commit again, because that might hit an L that somebody
		// has made meanwhile.
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

// probe names a directory for a trial. Others take it for an empty reservation, and for
// nothing else.
func (a *attempt) probe() string {
	return a.lock.reservation(labels.Ticket{Lease: a.request.Owner.Lease, ID: a.lock.NewID()})
}

// taken follows a commit that is the gate and was refused. It finds out who has the lock, and
// breaks a dead holder. It never returns nil: the error is a *backend.HeldError if somebody has
// the lock. It is backend.ErrAgain if the lock is free by now, or we broke the holder. After a
// break the empty L is ours; if the gate is renaming, taken removes it. Otherwise the error is
// that of a request that failed.
func (a *attempt) taken(ctx context.Context, cause error) error {
	if a.lookDue() && (a.gate != oneStep || !errors.Is(cause, fs.ErrExist)) {
		// The refusal does not prove that there is an L. Look for it in the directory around
		// it: some servers cannot list an empty L.
		there, err := a.lock.exists(ctx, a.dir, a.lock.Name)
		switch {
		case err != nil:
			return a.lock.fail("look for the lock directory", err)
		case !there:
			return backend.Again(a.lock.fail("rename our reservation to the lock", cause))
		}
	}
	err := a.look(ctx)
	if err == nil && a.gate == renaming {
		err = a.removeLock(ctx)
	}
	if err == nil || errors.Is(err, backend.ErrAgain) {
		return backend.Again(a.lock.fail("rename our reservation to the lock", cause))
	}
	return err
}

// look finds out who has the lock, if that is due, and breaks a dead holder. It begins with the
// holder of the last look. It returns what survey returns.
func (a *attempt) look(ctx context.Context) error {
	if !a.lookDue() {
		return a.heldAgain()
	}
	if e := a.block.seen.Of.entry; e != (labels.Entry{}) {
		s, err := a.others.Look(ctx, spot{at: a.lock.lock(), entry: e})
		switch {
		case err == nil && len(s.Of.inside) > 0:
			// It is the holder of the last look. An empty list would not show that it is
			// there: some servers list what is gone as empty.
			return a.judge(ctx, s)
		case err != nil && !errors.Is(err, dirs.ErrAbsent):
			return err
		}
	}
	return a.survey(ctx, false)
}

// survey finds out from a list of L who has the lock, and breaks a dead holder. doubt: an empty L may
// be ours. nil means that we broke the holder, and L is ours. Otherwise the error is a
// *backend.HeldError, or backend.ErrAgain, or that of a request that failed.
func (a *attempt) survey(ctx context.Context, doubt bool) error {
	names, err := a.dir.List(ctx, a.lock.lock())
	switch {
	case dirs.Refused(err):
		return a.unlisted(ctx)
	case err != nil:
		return a.lock.fail("list the lock directory", err)
	}
	entries := labels.EntriesIn(names)
	switch {
	case len(names) == 0 && a.removeAbandoned(ctx):
		return backend.ErrAgain
	case len(entries) == 0:
		//rule:empty
		return a.heldByNobody(ctx, names, doubt)
	}
	if a.phase != idle && slices.Contains(entries, a.mine.entry) {
		a.phase = unsure // our commit was executed, though it seemed refused
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

// judge decides whether a holder may be broken, and if so breaks it.
func (a *attempt) judge(ctx context.Context, s observation) error {
	if s.Due > 0 {
		return a.held(ctx, s)
	}
	if !dirs.MayRemove(a.dir, a.lock.lock()) {
		s.Due, s.Note = watch.Never, backend.StickyNote
		return a.held(ctx, s)
	}
	return a.breakPlain(ctx, s)
}

// breakPlain removes a dead holder's entry. nil means that our removal succeeded, and the
// empty L is ours. L is pinned before, so that nobody takes the empty L for abandoned (pin.go).
func (a *attempt) breakPlain(ctx context.Context, s observation) error {
	//rule:pin
	pin, err := a.lock.pin(ctx, a.dir, s.Of.at)
	if err != nil {
		return err
	}
	//rule:own
	if err = a.lock.breakSeen(ctx, a.dir, s); err == nil {
		//rule:keep-pin
		a.own(pin)
		a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
		return nil
	}
	dirs.Unpin(pin)
	switch {
	case errors.Is(err, dirs.ErrAbsent):
		//rule:absent
		return backend.ErrAgain
	case errors.Is(err, dirs.ErrRevived):
		s.Due = s.Of.entry.Ticket.Lease
		return a.held(ctx, s)
	case dirs.Unclear(err):
		return backend.Again(err)
	}
	return err
}

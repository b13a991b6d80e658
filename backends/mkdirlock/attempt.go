package mkdirlock

import (
	"context"
	"errors"
	"io"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/watch"
	"locksmith/protocol"
)

// An attempt implements backend.Attempt. To follow a plain acquisition, read Try and take
// here, then reserve, takePlain, and enter.
type attempt struct {
	lock    *Lock
	request backend.Request
	dir     dirs.Dir // nil before the first call
	others  watch.Others[spot]
	phase   phase
	mine    *claim // nil if the phase is idle
	block   block  // what the last Try that failed saw
	// owned: in plain style, the lock's directory is empty and ours: we made it, or we removed the
	// last entry. Only we may commit onto it or remove it. owned may be set in every phase: after we
	// came to own L we may have to give up our reservation.
	owned bool
	pin   io.Closer // of a lock's directory that is ours; nil: none
	// What the attempt has learned of its place.
	gate     gate
	disk     dirs.Disk // dir, where it can do more; else nil
	removes  bool      // what we made could be removed
	strayed  bool      // in dir style: somebody holds L as a plain lock
	fairness backoff.Fairness
	deferred bool              // it has held back for writers for long enough
	pauses   *backoff.Schedule // nil: those of the lock's Pace
	crowd    backoff.Crowd
}

// A phase is how far an attempt has come with its reservation, or with its entry in a lock that
// it shares. Below, "it" is that reservation or entry.
//
//	idle            reserve, join: it is made                            -> fresh
//	                  or its making may be incomplete                    -> leaving
//	fresh           Wait                                                 -> waiting
//	fresh, waiting  it is committed, and the answer is lost; or its
//	                  entry is seen in the lock                          -> unsure
//	                it is gone                                           -> leaving
//	unsure          the heartbeat finds the entry in the lock            -> held, the end
//	                the entry is seen in the reservation                 -> fresh
//	                it is in neither: somebody broke it                  -> leaving
//	any             Withdraw                                             -> leaving
//	leaving         all of it is removed                                 -> idle
type phase int

const (
	// idle: there is none.
	idle phase = iota
	// fresh: we have made or seen it since the last Wait.
	fresh
	// waiting: it was there before the last Wait, and others may have removed it since.
	waiting
	// unsure: its entry may be in the lock.
	unsure
	// leaving: it is being removed, and an answer may have been lost.
	leaving
)

// A gate is what lets only one locker at a time into a plain lock. An attempt begins with
// the first of these, and goes on to another when the place turns out to need it.
//
//	oneStep   the place cannot do it                                 -> twoSteps
//	twoSteps  the server never renames onto an existing directory    -> renaming
type gate int

const (
	// oneStep: the commit is the gate, a rename that replaces nothing (Disk).
	oneStep gate = iota
	// twoSteps: to make the lock's directory is the gate, the commit replaces it.
	twoSteps
	// renaming: the commit is the gate, because this server's renames replace nothing.
	renaming
)

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	if r.Owner.Mode == "shared" && l.Style == PlainStyle {
		return nil, l.Address.Usage("acquire", "a plain lock cannot be shared",
			"add ?style=dir to the address, for all who use the lock")
	}
	r, err := r.Checked(l.Address, "a lock", "exclusive", "shared")
	if err != nil {
		return nil, err
	}
	return &attempt{lock: l, request: r, pauses: r.Polls.Schedule()}, nil
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if a.dir == nil {
		a.open()
	}
	a.block.missed = 0
	h, err := a.race(ctx)
	switch {
	case err == nil:
		return h, nil
	case dirs.Passing(err) && ctx.Err() == nil:
		return nil, a.obstructed(err)
	}
	return nil, err
}

func (a *attempt) open() {
	a.dir = a.lock.NewDir()
	a.disk, a.gate = a.lock.disk(a.dir), oneStep
	if a.disk == nil {
		a.gate = twoSteps
	}
	a.others = a.lock.newOthers(a.dir, a.request)
	a.crowd.Changed(a.request.Clock.Now())
	if a.pauses == nil {
		a.crowd.Each = a.lock.Pace.Each
	}
}

// race tries until we hold the lock, somebody else does, or it fails.
func (a *attempt) race(ctx context.Context) (*hold, error) {
	var refusal *backend.Error // why the last try failed, if others may be the cause
	h, err := backend.Retry(ctx, backend.Races, func() (*hold, error) {
		h, err := a.takeAnew(ctx)
		refusal = nil
		if errors.Is(err, backend.ErrAgain) && errors.As(err, &refusal) {
			if refusal.Code == protocol.CannotCreate || dirs.Forbidden(refusal) {
				return nil, backend.ErrAgain
			}
			refusal = nil
		}
		return h, err
	})
	switch {
	case !errors.Is(err, backend.ErrAgain):
		return h, err
	case refusal != nil && a.cannotRename(ctx):
		return nil, refusal
	}
	return nil, a.obstructed(err)
}

// takeAnew first removes what an earlier try has left, then tries once.
func (a *attempt) takeAnew(ctx context.Context) (*hold, error) {
	//rule:leaving
	if a.phase == leaving {
		if err := a.withdraw(ctx); err != nil {
			return nil, err
		}
	}
	h, err := a.take(ctx)
	if errors.Is(err, dirs.ErrAbsent) {
		if err = a.withdraw(ctx); err == nil {
			err = backend.ErrAgain
		}
	}
	return h, err
}

// take tries once.
func (a *attempt) take(ctx context.Context) (*hold, error) {
	if !a.removes {
		if err := a.tryRemoving(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case a.request.Owner.Mode == "shared":
		return a.takeShared(ctx)
	case a.lock.Style == DirStyle:
		return a.takeExclusive(ctx)
	}
	return a.takePlain(ctx)
}

// enter makes sure, after a commit, that the entry in the lock is ours and there.
func (a *attempt) enter(ctx context.Context) (*hold, error) {
	c := a.mine
	c.at, c.inLock = a.lock.lock(), true
	a.phase = unsure
	c.acquiredNow()
	//rule:beat
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	a.disclaim()
	c.home = ""
	return a.hold(), nil
}

func (a *attempt) hold() *hold {
	return &hold{claim: a.mine, lock: a.lock, dir: a.dir, others: a.others}
}

// cannotRename finds out whether the server refuses the rename that every acquisition needs.
// If not, others were in our way.
func (a *attempt) cannotRename(ctx context.Context) bool {
	own := labels.Ticket{Lease: a.request.Owner.Lease, ID: a.lock.NewID()}
	from, to, inside := a.lock.reservation(own), a.probe(), "/"+labels.Entry{Kind: labels.Exclusive, Ticket: own}.String()
	made, moved, _ := a.tryRename(ctx, from, to, []string{from, from + inside},
		[]string{to + inside, to, from + inside, from}) // a holder tends to what stays
	return dirs.Refused(made) || dirs.Refused(moved) || dirs.Forbidden(moved)
}

// tryRename tries out a rename beside the lock, with directories of our own: it makes those in
// before, renames, and removes those in after. stays is the error of a removal that was neither
// refused nor unclear: that directory may still be there.
func (a *attempt) tryRename(ctx context.Context, from, to string, before, after []string) (made, moved, stays error) {
	for _, d := range before {
		made = errors.Join(made, a.dir.Mkdir(ctx, d))
	}
	moved = a.dir.Rename(ctx, from, to)
	for _, d := range after {
		if err := a.dir.Rmdir(ctx, d); err != nil && !dirs.Refused(err) && !dirs.Unclear(err) {
			stays = errors.Join(stays, err)
		}
	}
	return made, moved, stays
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	if a.dir == nil {
		return nil
	}
	if err := a.withdraw(ctx); err != nil {
		return err
	}
	if err := a.removeLock(ctx); err != nil {
		return err
	}
	if err := a.leaveOtherStyle(ctx); err != nil {
		return err
	}
	a.dir.Close()
	a.dir = nil
	return nil
}

// withdraw removes what there is of us beside the lock and in it; the next try has a new ticket.
// If our entry was in a plain lock, that is empty and ours now.
func (a *attempt) withdraw(ctx context.Context) error {
	if a.phase == idle {
		return nil
	}
	a.phase = leaving
	emptied, err := a.mine.withdraw(ctx)
	if emptied && a.lock.Style == PlainStyle {
		a.own(a.mine.pin)
		a.mine.pin = nil
	}
	if err != nil {
		return err
	}
	a.mine.unpin()
	a.mine, a.phase = nil, idle
	return nil
}

// own notes that the lock's directory is empty and ours, and what pins it.
func (a *attempt) own(pin io.Closer) {
	a.disclaim()
	a.owned, a.pin = true, pin
}

// disclaim notes that the lock's directory is not ours any more.
func (a *attempt) disclaim() {
	dirs.Unpin(a.pin)
	a.owned, a.pin = false, nil
}

// removeLock removes the lock's directory, if it is ours. After a lost answer it does not try
// again, because by then the directory may be somebody else's.
func (a *attempt) removeLock(ctx context.Context) error {
	if !a.owned {
		return nil
	}
	err := a.dir.Rmdir(ctx, a.lock.lock())
	if err != nil && !dirs.Refused(err) && !dirs.Unclear(err) {
		return a.lock.fail("remove the lock directory", err)
	}
	a.disclaim()
	if dirs.Unclear(err) {
		return a.lock.orphaned("remove the lock directory")
	}
	return nil
}

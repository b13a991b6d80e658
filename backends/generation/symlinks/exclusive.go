//go:build unix

package symlinks

import (
	"context"

	"locksmith/backends/backend"
)

// takeExclusive acquires the lock for one alone:
//
//	1  make a reservation (and its record)
//	2  t = the newest generation
//	3  read which reservation it points to: ours -> 7 with N = t
//	4  look whether that still exists: yes -> held
//	5  make generation N = t+1, pointing to our reservation
//	6  it exists: read it: ours -> 7; somebody else's -> R
//	7  a fresh listing: N is the newest, else R
//	8  touch our reservation, the first heartbeat: gone -> new ticket
//	R  our reservation is gone -> new ticket; else 2
func (a *attempt) takeExclusive(ctx context.Context) (*hold, error) {
	_, t, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.reserve(ctx, exclusive, t); err != nil {
		return nil, err
	}
	var target entry
	if t > 0 {
		target, err = a.lock.target(ctx, t)
		//rule:unseen
		if err != nil {
			return nil, err
		}
		if target == a.Mine.in {
			return a.confirmUnseen(ctx, t)
		}
		//rule:turn
		if err := a.pass(ctx, t, target); err != nil {
			return nil, err
		}
	}
	if err := a.turn(ctx, t, target); err != nil {
		return nil, err
	}
	return a.publish(ctx, t+1)
}

// pass is step 4. It returns nil if generation t has ended, perhaps because its
// holders were dead and we removed what they had; else a HeldError.
func (a *attempt) pass(ctx context.Context, t uint64, target entry) error {
	// Of a directory just looked at, the client believes no outdated names.
	if err := a.lookAround(ctx); err != nil {
		return err
	}
	if target.kind == shared {
		return a.passShared(ctx, t, target)
	}
	s, err := a.Others.Look(ctx, spot{target.path(), target.ticket})
	switch {
	case absent(err):
		return nil
	case err != nil:
		return a.lock.Fail("look at the holder's reservation", err)
	case s.Due > 0:
		return a.held(ctx, t, target, s)
	}
	return a.breakHolder(ctx, target, s)
}

// passShared ends a shared generation whose members have gone or are dead. The server decides
// whether it is empty, when it removes the directory.
func (a *attempt) passShared(ctx context.Context, t uint64, target entry) error {
	first, err := a.livingMember(ctx, target)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if first != nil {
		return a.held(ctx, t, target, *first)
	}
	err = a.lock.Dir.Rmdir(ctx, target.path())
	switch {
	case err == nil, absent(err):
		return nil
	case notEmpty(err):
		return backend.ErrAgain
	case backend.Unclear(err):
		return backend.Again(a.lock.Fail("remove an empty shared reservation", err))
	}
	return a.lock.Fail("remove an empty shared reservation", err)
}

// livingMember breaks the dead members of a shared directory, and returns the living one that
// may be broken next, or nil. Its error is the system's if the directory is gone.
func (a *attempt) livingMember(ctx context.Context, e entry) (*observation, error) {
	names, err := a.lock.names(ctx, e.path())
	if absent(err) {
		return nil, err
	}
	if err != nil {
		return nil, a.lock.Fail("list members", err)
	}
	a.Others.Keep(noOther(e, names))
	var first *observation
	for _, name := range names {
		t, ok := parseTicket(name)
		if !ok {
			return nil, a.lock.foreign(e.path(), backend.Quoted(name)+" in it is no member of ours")
		}
		s, err := a.Others.Look(ctx, spot{e.member(t), t})
		switch {
		case absent(err):
		case err != nil:
			return nil, a.lock.Fail("look at a member", err)
		case s.Due == 0:
			if err := a.breakHolder(ctx, e, s); err != nil {
				return nil, err
			}
		case first == nil || s.Due < first.Due:
			first = &s
		}
	}
	return first, nil
}

// breakHolder is breakDead for a holder, and tells that the lock was broken.
func (a *attempt) breakHolder(ctx context.Context, e entry, s observation) error {
	removed, err := a.breakDead(ctx, e, s)
	if removed {
		a.Request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))
	}
	return err
}

// breakDead removes, by its ticket, what a dead locker has. Its error is nil once that is gone.
// It reports whether our removal succeeded.
func (a *attempt) breakDead(ctx context.Context, e entry, s observation) (bool, error) {
	//rule:remove
	err := a.lock.remove(ctx, e, s.Of.ticket)
	switch {
	case backend.Unclear(err):
		return false, backend.Again(a.lock.Fail("remove the reservation of a dead holder", err))
	case err != nil && !absent(err):
		return false, a.lock.Fail("remove the reservation of a dead holder", err)
	}
	_ = a.lock.Dir.Unlink(ctx, s.Of.ticket.record()) // whoever tends the lock removes what is left
	return err == nil, nil
}

package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/owner"
)

// look sees who has the lock after the gate was closed. nil means that nobody has
// it any more: the holder was dead, and we broke it; L is ours. Otherwise it is a
// *backend.HeldError, or errAgain.
func (a *attempt) look(ctx context.Context, doubt bool) error {
	if !a.lookDue() && !doubt {
		return a.heldAgain()
	}
	if e := a.block.seen.entry; e != (entry{}) && !doubt {
		s, err := a.vigil.look(ctx, a.lock.lock(), e)
		switch {
		case err == nil && len(s.inside) > 0:
			return a.judge(ctx, s) // the same as before; some servers list as empty what is gone
		case err != nil && !errors.Is(err, errAbsent):
			return err
		}
	}
	names, err := a.dir.List(ctx, a.lock.lock())
	switch {
	case refused(err):
		return a.vanished()
	case err != nil:
		return a.lock.fail("list the lock directory", err)
	}
	entries := entriesIn(names)
	switch {
	case len(names) == 0 && a.cleared(ctx):
		return errAgain
	case len(entries) == 0:
		return a.heldByNobody(names, doubt)
	}
	for _, e := range entries {
		if a.mine != nil && e == a.mine.entry {
			a.unsure = true
			return errAgain
		}
	}
	s, err := a.vigil.look(ctx, a.lock.lock(), entries[0])
	if errors.Is(err, errAbsent) {
		return errAgain
	}
	if err != nil {
		return err
	}
	return a.judge(ctx, s)
}

// judge decides whether a holder may be broken, and does it.
func (a *attempt) judge(ctx context.Context, s sighting) error {
	if !s.isOver() {
		return a.held(s)
	}
	if g, ok := a.dir.(guarded); ok && !g.mayRemove(a.lock.lock()) {
		// To empty it would turn it into a lock that nobody can break.
		s.due, s.bareDue, s.note = owner.Never, owner.Never, "it is dead, but in a sticky directory only its owner may remove it"
		return a.held(s)
	}
	return a.breakPlain(ctx, s)
}

// A guarded directory may keep us from removing what is somebody else's.
type guarded interface {
	mayRemove(name string) bool
}

// breakPlain removes a dead one's entry. It returns nil if it was we who did.
func (a *attempt) breakPlain(ctx context.Context, s sighting) error {
	pin, err := a.lock.pin(ctx, a.dir, s.at)
	if err != nil {
		return err
	}
	if err = a.lock.breakSeen(ctx, a.dir, s); err == nil {
		a.own(pin)
		return nil
	}
	unpin(pin)
	switch {
	case errors.Is(err, errAbsent):
		return errAgain
	case errors.Is(err, errRevived):
		s.due, s.bareDue = s.entry.ticket.lease, owner.Never
		return a.held(s)
	case unclear(err):
		return errors.Join(errAgain, err)
	}
	return err
}

func entriesIn(names []string) []entry {
	var all []entry
	for _, name := range names {
		if e, ok := parseEntry(name); ok {
			all = append(all, e)
		}
	}
	return all
}

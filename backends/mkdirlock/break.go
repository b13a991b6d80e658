package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Break implements backend.Backend. It removes what carries the id, and nothing
// else; the holder learns it at its next heartbeat. In plain style the lock's
// directory then is empty and ours.
func (l *Lock) Break(ctx context.Context, id string) error {
	dir := l.NewDir()
	defer dir.Close()
	names, hidden := l.listLock(ctx, dir)
	if hidden != nil && !refused(hidden) {
		return l.fail("list the lock directory", hidden)
	}
	for _, e := range entriesIn(names) {
		if e.ticket.id == id {
			return l.breakEntry(ctx, dir, e)
		}
	}
	around, _ := l.around()
	names, err := l.namesIn(ctx, dir, around, "list who waits")
	if err != nil {
		return err
	}
	for _, t := range l.reservationsIn(names) {
		if t.id == id {
			return l.removeReservation(ctx, dir, t)
		}
	}
	if hidden != nil {
		return l.fail("list the lock directory", hidden)
	}
	return l.noSuch(id)
}

// listLock lists the lock's directory. One that is missing has nothing in it; one
// that is there and cannot be listed is refused.
func (l *Lock) listLock(ctx context.Context, dir Dir) ([]string, error) {
	for tries := 1; ; tries++ {
		names, err := dir.List(ctx, l.lock())
		if !refused(err) {
			return names, err
		}
		there, err2 := l.exists(ctx, dir, l.lock())
		switch {
		case err2 != nil:
			return nil, err2
		case !there:
			return nil, nil
		case tries == maxRaces: // it does not come and go
			return nil, err
		}
	}
}

func (l *Lock) noSuch(id string) error {
	return backend.Name(l.Address).NoSuch("break " + backend.Quoted(id))
}

// breakEntry removes an entry in the lock, and the lock's directory where that is
// ours then.
func (l *Lock) breakEntry(ctx context.Context, dir Dir, e entry) error {
	if l.Style == PlainStyle && !mayRemove(dir, l.lock()) {
		return l.notOwner("break " + e.ticket.id)
	}
	pin, err := l.pin(ctx, dir, l.lock())
	if err == nil {
		defer unpin(pin)
		err = l.removeEntry(ctx, dir, l.lock(), e.String(), nil)
	}
	switch {
	case errors.Is(err, backend.ErrAgain), errors.Is(err, errAbsent):
		return l.noSuch(e.ticket.id)
	case errors.Is(err, errRevived):
		return l.fail("break "+e.ticket.id, err)
	case err != nil || l.Style == TreeStyle:
		return err
	}
	h := hold{lock: l, dir: dir, stage: emptied}
	return h.removeLock(ctx)
}

// breakSeen removes an entry whose time is over.
func (l *Lock) breakSeen(ctx context.Context, dir Dir, s observation) error {
	if overIn(s) == 0 {
		return l.removeEntry(ctx, dir, s.Of.at, s.Of.entry.String(), s.Of.inside)
	}
	return l.removeBare(ctx, dir, s.Of.at, s.Of.entry.String())
}

// removeBare removes an entry that is bare. If its owner has put a heartbeat into it
// meanwhile, the removal fails with errRevived.
func (l *Lock) removeBare(ctx context.Context, dir Dir, at, name string) error {
	err := dir.Rmdir(ctx, at+"/"+name)
	switch {
	case err == nil:
		return nil
	case !refused(err):
		return l.fail("remove an entry", err)
	}
	if err := l.mustBeThere(ctx, dir, at+"/"+name, "look for an entry"); err != nil {
		return err
	}
	return errRevived
}

// A guarded directory may keep us from removing what is somebody else's.
type guarded interface {
	mayRemove(name string) bool
}

// mayRemove reports whether we may remove a directory. If we emptied a lock that we may not
// remove, nobody could break it any more.
func mayRemove(dir Dir, name string) bool {
	g, ok := dir.(guarded)
	return !ok || g.mayRemove(name)
}

func (l *Lock) notOwner(op string) error {
	return l.error(protocol.Permission, op, errors.New("in a sticky directory only its owner may remove it"), "let its owner do it, or root")
}

package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
)

// Break implements backend.Backend. It removes what carries the id, and nothing else; the holder
// learns of it at its next heartbeat. In plain style the lock's directory then is empty and ours.
func (l *Lock) Break(ctx context.Context, id string) error {
	dir := l.NewDir()
	defer dir.Close()
	names, hidden := l.listLock(ctx, dir)
	if hidden != nil && !dirs.Refused(hidden) {
		return l.fail("list the lock directory", hidden)
	}
	for _, e := range labels.EntriesIn(names) {
		if e.Ticket.ID == id {
			return l.breakEntry(ctx, dir, e)
		}
	}
	around, _ := l.around()
	names, err := l.namesIn(ctx, dir, around, "list who waits")
	if err != nil {
		return err
	}
	for _, t := range l.reservationsIn(names) {
		if t.ID == id {
			return l.removeReservation(ctx, dir, t)
		}
	}
	if hidden != nil {
		return l.fail("list the lock directory", hidden)
	}
	return l.Address.NoSuch("break " + backend.Quoted(id))
}

// listLock lists the lock's directory. If that is missing, there are no names. If it is there and
// cannot be listed, the error is the server's refusal.
func (l *Lock) listLock(ctx context.Context, dir dirs.Dir) ([]string, error) {
	for tries := 1; ; tries++ {
		names, err := dir.List(ctx, l.lock())
		if !dirs.Refused(err) {
			return names, err
		}
		there, err2 := l.exists(ctx, dir, l.lock())
		switch {
		case err2 != nil:
			return nil, err2
		case !there:
			return nil, nil
		case tries == backend.Races: // so it does not just come and go
			return nil, err
		}
	}
}

// breakEntry removes an entry in the lock; in plain style also the lock's directory, which is
// ours then.
func (l *Lock) breakEntry(ctx context.Context, dir dirs.Dir, e labels.Entry) error {
	if l.Style == PlainStyle && !dirs.MayRemove(dir, l.lock()) {
		return dirs.NotOwner(l.Address, "break "+e.Ticket.ID)
	}
	pin, err := l.pin(ctx, dir, l.lock())
	if err == nil {
		//rule:pin
		defer dirs.Unpin(pin)
		err = l.removeEntry(ctx, dir, l.lock(), e.String(), nil)
	}
	switch {
	case errors.Is(err, backend.ErrAgain), errors.Is(err, dirs.ErrAbsent):
		return l.Address.NoSuch("break " + backend.Quoted(e.Ticket.ID))
	case errors.Is(err, dirs.ErrRevived):
		return l.fail("break "+e.Ticket.ID, err)
	case err != nil || l.Style == DirStyle:
		return err
	}
	h := hold{lock: l, dir: dir, stage: emptied}
	return h.removeLock(ctx)
}

// breakSeen removes an entry that is due. Unless overIn is over as well, the entry must be bare.
func (l *Lock) breakSeen(ctx context.Context, dir dirs.Dir, s observation) error {
	if overIn(s) == 0 {
		return l.removeEntry(ctx, dir, s.Of.at, s.Of.entry.String(), s.Of.inside)
	}
	//rule:bare
	return l.removeBare(ctx, dir, s.Of.at, s.Of.entry.String())
}

// removeBare removes an entry that is bare. If its owner has put a heartbeat into it
// meanwhile, the removal fails with dirs.ErrRevived.
func (l *Lock) removeBare(ctx context.Context, dir dirs.Dir, at, name string) error {
	err := dir.Rmdir(ctx, at+"/"+name)
	switch {
	case err == nil:
		return nil
	case !dirs.Refused(err):
		return l.fail("remove an entry", err)
	}
	if err := l.mustBeThere(ctx, dir, at+"/"+name, "look for an entry"); err != nil {
		return err
	}
	return dirs.ErrRevived
}

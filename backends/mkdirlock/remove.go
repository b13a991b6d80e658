package mkdirlock

import (
	"context"
	"errors"
	"path"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

// maxRemovals bounds how often an entry is emptied again that others fill again.
const maxRemovals = 3

// removeEntry removes the entry of one acquisition. inside is what is known to be in it. nil
// means that our removal succeeded: the emptied lock is ours. dirs.ErrAbsent means that the entry
// is gone, but not by us. After an unclear answer nobody knows which.
func (l *Lock) removeEntry(ctx context.Context, dir dirs.Dir, at, name string, inside []string) error {
	path := at + "/" + name
	for i := 0; ; i++ {
		for _, n := range inside {
			if err := l.removeIfEmpty(ctx, dir, path+"/"+n, "remove what is in an entry"); err != nil {
				return err
			}
		}
		err := dir.Rmdir(ctx, path)
		switch {
		case err == nil:
			return nil
		case !dirs.Refused(err):
			return l.fail("remove an entry", err)
		}
		left, listed := l.namesIn(ctx, dir, path, "list an entry")
		switch {
		case listed != nil:
			return listed
		case len(left) == 0:
			// Its owner empties it, too; or it is gone; or we may not remove it.
			//rule:why
			if why := l.whyRefused(ctx, dir, path, err); i == maxRemovals || backend.CodeOf(why) != protocol.Permission {
				return why
			}
		case i == maxRemovals && all(left, inside):
			return l.mayNotRemove(name, err)
		case i == maxRemovals:
			return dirs.ErrRevived
		}
		inside = left
	}
}

// whyRefused returns dirs.ErrAbsent if an entry that could not be removed is not there.
func (l *Lock) whyRefused(ctx context.Context, dir dirs.Dir, entry string, cause error) error {
	if err := l.mustBeThere(ctx, dir, entry, "look for an entry"); err != nil {
		return err
	}
	return l.mayNotRemove(path.Base(entry), cause)
}

// mustBeThere returns dirs.ErrAbsent if an entry is not there.
func (l *Lock) mustBeThere(ctx context.Context, dir dirs.Dir, entry, op string) error {
	there, err := l.exists(ctx, dir, entry)
	switch {
	case err != nil:
		return l.fail(op, err)
	case !there:
		return dirs.ErrAbsent
	}
	return nil
}

func (l *Lock) mayNotRemove(entry string, cause error) error {
	return l.Address.Failure(protocol.Permission, "remove entry "+entry, cause,
		"this user may make directories there, but not remove them: see locksmith doctor")
}

// all reports that we have asked to remove all that is left. If not, a holder that lives has
// renamed its heartbeat meanwhile.
func all(left, asked []string) bool {
	return !slices.ContainsFunc(left, func(n string) bool { return !slices.Contains(asked, n) })
}

// exists reports whether there is a directory, by the listing of the one around it. If that
// listing is refused, the answer is no: callers ask about what was refused before.
func (l *Lock) exists(ctx context.Context, dir dirs.Dir, name string) (bool, error) {
	parent, base := path.Split(name)
	names, err := dir.List(ctx, path.Clean(parent))
	if err != nil && !dirs.Refused(err) {
		return false, err
	}
	return slices.Contains(names, base), nil
}

// namesIn lists a directory. If the server refuses, there are no names.
func (l *Lock) namesIn(ctx context.Context, dir dirs.Dir, at, op string) ([]string, error) {
	names, err := dir.List(ctx, at)
	if err != nil && !dirs.Refused(err) {
		return nil, l.fail(op, err)
	}
	return names, nil
}

// removeIfEmpty removes a directory. That something is in it, or that it is not there, is no
// error.
func (l *Lock) removeIfEmpty(ctx context.Context, dir dirs.Dir, name, op string) error {
	if err := dir.Rmdir(ctx, name); err != nil && !dirs.Refused(err) {
		return l.fail(op, err)
	}
	return nil
}

// removeReservation removes somebody's reservation with what is in it.
func (l *Lock) removeReservation(ctx context.Context, dir dirs.Dir, t labels.Ticket) error {
	at := l.reservation(t)
	names, err := l.namesIn(ctx, dir, at, "list a reservation")
	if err != nil {
		return err
	}
	for _, name := range names {
		e, ok := labels.ParseEntry(name)
		if !ok || e.Ticket != t {
			continue // not ours: then it stays
		}
		if err := l.removeEntry(ctx, dir, at, name, nil); err != nil && !errors.Is(err, dirs.ErrAbsent) {
			return err
		}
	}
	return l.removeIfEmpty(ctx, dir, at, "remove a reservation")
}

// breakReservation removes a reservation whose entry is due (breakSeen).
func (l *Lock) breakReservation(ctx context.Context, dir dirs.Dir, s observation) error {
	if err := l.breakSeen(ctx, dir, s); err != nil && !errors.Is(err, dirs.ErrAbsent) {
		return err
	}
	return l.removeIfEmpty(ctx, dir, s.Of.at, "remove a reservation")
}

// A DirStyleLock is a lock in dir style. A release leaves parts of it behind, so it implements
// backend.Remover.
type DirStyleLock struct{ *Lock }

// Backend is the lock with all that its style can do.
func (l *Lock) Backend() backend.Backend {
	if l.Style == DirStyle {
		return DirStyleLock{l}
	}
	return l
}

// Remove implements backend.Remover. It removes only what is empty, so it hits nobody that comes
// at that moment. The tokens go last but one, before L: unless all else is gone, they count on.
func (l DirStyleLock) Remove(ctx context.Context, h backend.Hold) error {
	if err := h.Release(ctx); err != nil {
		return err
	}
	dir := l.NewDir()
	defer dir.Close()
	if err := l.removeUnused(ctx, dir, l.lock()); err != nil {
		return err
	}
	names, err := l.namesIn(ctx, dir, l.Name, "list the lock directory")
	beside, slips := l.slips(dir, names)
	fences := labels.FencesIn(names)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(names, func(name string) bool { return !labels.IsFence(name) && !labels.IsSlip(name) }):
		return l.inUse()
	}
	if err := shelf.Forget(ctx, beside, slips); err != nil {
		return err
	}
	for _, n := range fences {
		if err := l.removeUnused(ctx, dir, l.Name+"/"+labels.FenceName(n)); err != nil {
			return err
		}
	}
	return l.removeUnused(ctx, dir, l.Name)
}

// removeUnused removes a directory that is empty. That it is not there is no error.
func (l *Lock) removeUnused(ctx context.Context, dir dirs.Dir, name string) error {
	err := dir.Rmdir(ctx, name)
	if err == nil {
		return nil
	}
	there, unread := l.exists(ctx, dir, name)
	switch {
	case !dirs.Refused(err) || unread != nil:
		return l.fail("remove the lock directory", errors.Join(err, unread))
	case !there:
		return nil
	}
	return l.inUse()
}

func (l *Lock) inUse() error {
	return l.Address.InUse("there is something in it that somebody made meanwhile")
}

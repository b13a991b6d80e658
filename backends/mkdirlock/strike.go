package mkdirlock

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
)

// Strike implements backend.Backend. It removes an entry; the holder learns of it at its next
// heartbeat. In plain style the lock's directory then is empty and ours, and goes, too.
func (l *Lock) Strike(ctx context.Context, who backend.Holder) error {
	s, ok := who.Entry.(spot)
	if !ok {
		return backend.ErrGone
	}
	dir := l.NewDir()
	defer dir.Close()
	if s.at != l.lock() {
		return l.strikeReservation(ctx, dir, s)
	}
	if l.Style == PlainStyle && !dirs.MayRemove(dir, l.lock()) {
		return dirs.NotOwner(l.Address, who.BreakOp())
	}
	pin, err := l.pin(ctx, dir, l.lock())
	if err == nil {
		//rule:pin
		defer dirs.Unpin(pin)
		err = l.removeEntry(ctx, dir, s.at, s.entry.String(), nil)
	}
	switch {
	case errors.Is(err, backend.ErrAgain), errors.Is(err, dirs.ErrAbsent):
		return backend.ErrGone
	case errors.Is(err, dirs.ErrRevived):
		return l.fail(who.BreakOp(), err)
	case err != nil || l.Style == DirStyle:
		return err
	}
	h := hold{lock: l, dir: dir, stage: emptied}
	return h.removeLock(ctx)
}

// strikeReservation removes a reservation, if it is there.
func (l *Lock) strikeReservation(ctx context.Context, dir dirs.Dir, s spot) error {
	there, err := l.exists(ctx, dir, s.at)
	switch {
	case err != nil:
		return l.fail("list who waits", err)
	case !there:
		return backend.ErrGone
	}
	return l.removeReservation(ctx, dir, s.entry.Ticket)
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

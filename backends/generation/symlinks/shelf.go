//go:build unix

package symlinks

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/tokens"
)

// Each slip is a symbolic link in Reservations, whose target is its text. Locksmiths that do not know
// slips leave them alone, and refuse to remove the lock. A success is the link d.<N>-<id>, and its
// target is the record of the holder of generation N. Its age is the difference of two times of the
// server: the link's, and that of a link that was made just now, d.0-<id>.

var successNames = generation.SuccessNames{Prefix: "d."}

// slipsIn are the slips among the names in Reservations. No holder had more than most.
func slipsIn(names []string, most uint64) (all []shelf.Slip) {
	for _, name := range names {
		s, ok := shelf.ParseNote(name)
		if !ok {
			s, ok = successNames.Parse(name)
			s.Void = s.Number > most
		}
		if ok {
			all = append(all, s)
		}
	}
	return all
}

// slips is the shelf of a lock.
type slips struct {
	lock *Lock
	hold *hold        // ours; nil: we do not ask which numbers there can have been
	seen []shelf.Slip // that were just listed; nil: they are to be listed
	user uint32       // who we are in the place, if anybody asks
}

// OnShelf implements shelf.Keeper.
func (l *Lock) OnShelf(ctx context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	if h, ok := held.(*hold); ok {
		return use(&slips{lock: h.Mine.lock, hold: h})
	}
	_, err := used(ctx, l, func(l *Lock) (struct{}, error) { return struct{}{}, use(&slips{lock: l}) })
	return err
}

// List implements shelf.Shelf.
func (s *slips) List(ctx context.Context) ([]shelf.Slip, error) {
	if s.seen != nil {
		return s.seen, nil
	}
	names, err := s.lock.names(ctx, Reservations)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.lock.Fail("list reservations", err)
	}
	all := slipsIn(names, tokens.Max)
	if s.hold == nil || shelf.Newest(all).Number <= s.hold.Number {
		return all, nil
	}
	most, err := s.lock.newest(ctx)
	return slipsIn(names, most), err
}

// Now implements shelf.Shelf. The link that shows the time, and who we are there, also makes this host
// read the directory anew (see probe).
func (s *slips) Now(ctx context.Context) (time.Time, error) {
	probe := Reservations + "/" + successNames.Of(0, s.hold.ID()) // number 0 only shows the time
	made := s.lock.Dir.Symlink(ctx, "now", probe)
	now, err := s.lock.Dir.Look(ctx, probe)
	_ = s.lock.Dir.Unlink(ctx, probe) // the next success removes what is left
	if err != nil {
		return time.Time{}, s.lock.Fail("find out the server's time", errors.Join(made, err))
	}
	s.user = now.User
	return now.Modified, nil
}

// Read implements shelf.Shelf.
func (s *slips) Read(ctx context.Context, op string, slip *shelf.Slip) error {
	if slip.Number > 0 {
		seen, err := s.lock.Dir.Look(ctx, Reservations+"/"+slip.Name)
		if err != nil {
			return s.lock.Fail(op, err)
		}
		slip.At, slip.By = seen.Modified, owner.Stranger(seen.User, s.user, s.lock.OwnUsers)
	}
	slip.Text, _ = s.lock.Dir.Readlink(ctx, Reservations+"/"+slip.Name)
	return nil
}

// Write implements shelf.Shelf.
func (s *slips) Write(ctx context.Context, op string, slip *shelf.Slip) error {
	if slip.Number > 0 {
		*slip = successNames.Slip(s.hold.Number, s.hold.Mine.Own())
	}
	err := s.lock.Dir.Symlink(ctx, slip.Text, Reservations+"/"+slip.Name)
	if err == nil {
		return nil
	}
	if _, unseen := s.lock.Dir.Look(ctx, Reservations+"/"+slip.Name); unseen != nil {
		return s.lock.Fail(op, err)
	}
	return nil
}

// Remove implements shelf.Shelf.
func (s *slips) Remove(ctx context.Context, op string, slip shelf.Slip) error {
	if err := s.lock.Dir.Unlink(ctx, Reservations+"/"+slip.Name); err != nil && !absent(err) {
		return s.lock.Fail(op, err)
	}
	return nil
}

var _ shelf.Keeper = (*Lock)(nil)

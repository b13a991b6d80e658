package mkdirlock

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// slips is the shelf of a lock in dir style: the names of directories beside it.
type slips struct {
	lock    *Lock
	dir     dirs.Dir
	hold    *hold                        // ours; nil: no success is written
	seen    []shelf.Slip                 // in a listing
	parts   map[string][]labels.NotePart // of the notes in it; nil: there was none yet
	entries []dirs.Entry                 // with the server's times; nil: nobody needs them
	now     dirs.Entry                   // that we have just made there
}

// slips are those among the names beside a lock, and their shelf. In plain style there are none.
func (l *Lock) slips(dir dirs.Dir, names []string) (s *slips, all []shelf.Slip) {
	s = &slips{lock: l, dir: dir}
	if l.Style == DirStyle {
		s.saw(names)
	}
	return s, s.seen
}

// OnShelf implements shelf.Keeper. It opens the place anew, unless the hold has it open: one that has
// lost its lock has closed its dir.
func (l DirStyleLock) OnShelf(_ context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	if h, ok := held.(*hold); ok && h.stage != gone {
		return use(&slips{lock: l.Lock, dir: h.dir, hold: h})
	}
	dir := l.NewDir()
	defer dir.Close()
	return use(&slips{lock: l.Lock, dir: dir})
}

// List implements shelf.Shelf.
func (s *slips) List(ctx context.Context) ([]shelf.Slip, error) {
	if s.parts == nil {
		names, err := s.dir.List(ctx, s.lock.Name)
		if err != nil {
			return nil, s.lock.fail("list the lock directory", err)
		}
		s.saw(names)
	}
	return s.seen, nil
}

// saw notes what a listing showed.
func (s *slips) saw(names []string) {
	s.seen, s.parts = nil, labels.PartsOfNotes(names)
	for _, name := range slices.Sorted(maps.Keys(s.parts)) {
		note, _ := shelf.ParseNote(name)
		s.seen = append(s.seen, note)
	}
	s.seen = append(s.seen, labels.SuccessesIn(names)...)
}

// Now implements shelf.Shelf.
func (s *slips) Now(ctx context.Context) (time.Time, error) {
	dir, ok := s.dir.(dirs.StatDir)
	if !ok {
		return time.Time{}, s.lock.Address.Usage("look for the last success", "this place does not tell times", "use another kind of lock")
	}
	var err error
	s.entries, s.now, err = dirs.ListWithNow(ctx, dir, s.lock.Name, labels.ReservationPrefix+s.lock.probe().String(), s.lock.fail)
	var names []string
	for _, e := range s.entries {
		names = append(names, e.Name)
	}
	s.saw(names)
	return s.now.Modified, err
}

// Read implements shelf.Shelf.
func (s *slips) Read(ctx context.Context, op string, slip *shelf.Slip) error {
	if slip.Number == 0 {
		_, err := s.List(ctx)
		slip.Text = labels.UnpackNote(s.parts[slip.Name])
		return err
	}
	i := slices.IndexFunc(s.entries, func(e dirs.Entry) bool { return e.Name == slip.Name })
	if i < 0 {
		return nil
	}
	e, now := s.entries[i], s.now.Modified
	if e.Modified.IsZero() {
		return s.lock.fail(op, errors.New("its time is not known"))
	}
	ago := dirs.Age(e, now)
	if d := now.Sub(e.Modified); d < 0 && (e.Precise || d < -clockStep) {
		ago = d
	}
	_, ownUsers := s.dir.(dirs.Rooted)
	slip.At, slip.By = now.Add(-ago), owner.Stranger(e.User, s.now.User, ownUsers)
	return nil
}

// clockStep is by how much local times to the minute may go back by themselves when summer time
// ends.
const clockStep = time.Hour + time.Minute

// Write implements shelf.Shelf.
func (s *slips) Write(ctx context.Context, op string, slip *shelf.Slip) error {
	if slip.Number == 0 {
		for _, p := range labels.PackNote(slip.Name, slip.Text) {
			if err := s.mkdir(ctx, op, p.String()); err != nil {
				return err
			}
		}
		return nil
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	host := cmp.Or(s.hold.claim.record.Place.Host, "?")
	done := labels.Succeeded{Number: shelf.Newest(all).Number + 1, ID: s.hold.ID(), At: s.lock.Today().Unix(), Host: host[:min(len(host), labels.MaxHost)]}
	slip.Name, slip.Number = done.String(), done.Number
	return s.mkdir(ctx, op, slip.Name)
}

// mkdir makes a directory beside the lock. That it is there is no error.
func (s *slips) mkdir(ctx context.Context, op, name string) error {
	at := s.lock.Name + "/" + name
	if err := s.dir.Mkdir(ctx, at); err != nil {
		if there, _ := s.lock.exists(ctx, s.dir, at); !there {
			return s.lock.fail(op, err)
		}
	}
	return nil
}

// Remove implements shelf.Shelf.
func (s *slips) Remove(ctx context.Context, op string, slip shelf.Slip) error {
	if slip.Note.ID == "" {
		return s.lock.removeUnused(ctx, s.dir, s.lock.Name+"/"+slip.Name)
	}
	for _, p := range s.parts[slip.Name] {
		if err := s.lock.removeIfEmpty(ctx, s.dir, s.lock.Name+"/"+p.String(), op); err != nil {
			return err
		}
	}
	return nil
}

var _ shelf.Keeper = DirStyleLock{}

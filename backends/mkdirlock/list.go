package mkdirlock

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
)

// Search implements finder.Place. With DirStyle, only locks of that style are found.
func (l *Lock) Search(context.Context) (finder.Search, error) {
	dir := l.NewDir()
	place := l.Address.With(map[string]string{"style": "", "tokens": ""}) // each lock has its own
	k := lister{l, dir}
	s := finder.Search{Depth: l.Depth, Close: dir.Close, Reap: l.Reap,
		Kind: finder.Kind{Place: place, Beside: k.beside, Directory: k.directory, Part: isPart, Look: k.look}}
	if r, ok := dir.(dirs.Rooted); ok {
		s.Tree = finder.FileTree{Root: r.Root(l.Name), Address: string(l.Address)}
	} else {
		s.Tree, s.Fatal = dirTree{l, dir}, dirs.Passing
	}
	return s, nil
}

// A dirTree is a Dir as a tree of directories.
type dirTree struct {
	place *Lock
	dir   dirs.Dir
}

// List implements finder.Tree.
func (t dirTree) List(ctx context.Context, below string) ([]finder.Entry, error) {
	l := *t.place
	l.Address = l.Address.Below(below)
	stat, ok := t.dir.(dirs.StatDir)
	if !ok {
		return nil, l.Address.Usage("list the directory", "this place does not tell what is a directory", "")
	}
	entries, err := stat.Entries(ctx, l.Name+below)
	switch {
	case err == nil && below == "" && len(entries) == 0:
		err = t.missing(ctx)
	case below != "" && (backend.CodeOf(err) == protocol.Usage || dirs.Refused(err) && t.gone(ctx, l.Name+below)):
		return nil, fs.ErrNotExist // it is gone, or has a name that no lock of ours may have
	}
	if err != nil {
		return nil, l.fail("list the directory", err)
	}
	var all []finder.Entry
	for _, e := range entries {
		t := finder.Other
		if e.Dir {
			t = finder.Subdirectory
		}
		all = append(all, finder.Entry{Name: e.Name, Type: t, Age: dirs.AgeHere(e, l.Today())})
	}
	return all, nil
}

// missing returns an error if the place is not there. Some servers list what is not there as an
// empty directory.
func (t dirTree) missing(ctx context.Context) error {
	if t.place.Name == "." {
		return nil // the directory to which a log in leads exists
	}
	there, err := t.place.exists(ctx, t.dir, t.place.Name)
	if err == nil && !there {
		return t.place.Address.Failure(protocol.CannotCreate, "list the directory", errors.New("it is not there"), "correct the path")
	}
	if err != nil && dirs.Passing(err) {
		return err
	}
	return nil // this user may not look at what is above
}

// gone reports that a directory is not there any more.
func (t dirTree) gone(ctx context.Context, name string) bool {
	there, err := t.place.exists(ctx, t.dir, name)
	return err == nil && !there
}

// A lister recognises locks among directories.
type lister struct {
	place *Lock // the directory of locks, as if it were a lock itself
	dir   dirs.Dir
}

// beside says what a directory is by its name. A plain lock that is free but waited for has no
// directory: it is told of at its first reservation.
func (k lister) beside(in *finder.Directory, name string) *finder.Found {
	lock, ok := labels.LockOfReservation(name)
	if !ok && !labels.IsScratch(name) {
		return nil
	}
	f := in.Lock(lock)
	f.Part = !ok || in.HasDirectory(lock) || k.place.Style == DirStyle || reservationsOf(in, lock)[0] != name
	return f
}

// directory says what a directory is by the names in it. An empty one may be a lock that somebody
// unknown holds.
func (k lister) directory(d *finder.Directory) *finder.Found {
	f := d.Found()
	entries := len(labels.EntriesIn(subdirectories(d.Entries))) > 0
	switch {
	case k.isDirStyle(d):
		f.Options, f.Lasts = map[string]string{"style": "dir"}, true
		if !k.place.Tokens {
			f.Options["tokens"] = "no"
		}
	case k.place.Style == DirStyle:
		return nil
	case d.In == nil && !entries:
		return nil // the search begins in a place for locks, not in a lock
	case !entries && len(reservationsOf(d.In, f.Name())) == 0:
		f.Bare = true
		if len(d.Entries) > 0 {
			return nil
		}
	}
	return f
}

// isPart reports whether a name in a lock's directory belongs to the lock.
func isPart(name string) bool {
	_, ok := labels.ParseEntry(name)
	return ok || labels.IsDirStyle(dirs.Entry{Name: name})
}

// isDirStyle reports that a directory is a lock in dir style. That a directory called "lock" is
// in it proves nothing, for a plain lock may have that name; unless only locks in dir style are
// asked for, and nothing else is in it.
func (k lister) isDirStyle(d *finder.Directory) bool {
	parts, proven := 0, false
	for _, e := range d.Entries {
		if e.Type == finder.Subdirectory && labels.IsDirStyle(dirs.Entry{Name: e.Name}) {
			parts++
			proven = proven || e.Name != labels.LockName
		}
	}
	return proven || k.place.Style == DirStyle && parts > 0 && parts == len(d.Entries)
}

// look goes by the names that were listed already: each listing may be a request. If they do not
// tell who has the lock, it lists again.
func (k lister) look(ctx context.Context, f finder.Found) (backend.Report, error) {
	l := *k.place
	l.Name, l.Address, l.Style = l.Name+f.Path, f.Address, PlainStyle
	if f.Options != nil {
		l.Style = DirStyle
	}
	again := false
	return l.sure(k.dir, func(i *inspection) error {
		defer func() { again = true }()
		if _, onDisk := k.dir.(dirs.Owned); !onDisk && f.In != nil { // a listing for each lock would be too much
			i.age = func(context.Context) time.Duration { return f.In.Age(f.Name()) }
		}
		switch {
		case f.In == nil, again && l.Style == DirStyle:
			return i.look(ctx, k.dir)
		case l.Style == DirStyle:
			return i.all(ctx, k.dir, subdirectories(f.At.Entries))
		case again:
			return errors.Join(i.holdersNow(ctx), i.waiters(ctx, f))
		}
		return errors.Join(i.holdersListed(ctx, f.At), i.waiters(ctx, f))
	})
}

// holdersListed sees who has a plain lock whose directory was listed; nil: it has none.
func (i *inspection) holdersListed(ctx context.Context, at *finder.Directory) error {
	if at == nil {
		return nil
	}
	var names []string
	for _, e := range at.Entries {
		names = append(names, e.Name)
	}
	return i.holders(ctx, names)
}

// waiters sees who waits for a plain lock, as it was listed.
func (i *inspection) waiters(ctx context.Context, f finder.Found) error {
	waiters := reservationsOf(f.In, f.Name())
	for n := range waiters {
		waiters[n] = strings.TrimSuffix(i.lock.Name, f.Name()) + waiters[n]
	}
	return i.reservations(ctx, waiters)
}

// subdirectories are the names of the directories among these.
func subdirectories(entries []finder.Entry) []string {
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type == finder.Subdirectory {
			names = append(names, e.Name)
		}
	}
	return names
}

// reservationsOf returns the names of those who wait for a plain lock.
func reservationsOf(in *finder.Directory, lock string) []string {
	all := subdirectories(in.Beginning(lock + "." + labels.ReservationPrefix))
	return slices.DeleteFunc(all, func(name string) bool {
		of, ok := labels.LockOfReservation(name)
		return !ok || of != lock
	})
}

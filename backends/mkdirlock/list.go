package mkdirlock

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/finder"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
)

// List implements backend.Backend. An empty directory is a lock that somebody unknown
// holds. With DirStyle, only locks of that style are told of.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	dir := l.NewDir()
	defer dir.Close()
	w := finder.Walk{
		Directories: []finder.DirectoryKind{listKind{place: l, dir: dir, empty: true}},
		Listing:     listing,
	}
	if r, ok := dir.(dirs.Rooted); ok {
		w.Tree = finder.FileTree{Root: r.Root(l.Name), Address: string(l.Address)}
	} else {
		w.Tree, w.Fatal, w.Step = dirTree{l, dir}, dirs.Passing, nil // all goes over one connection
	}
	if w.Depth == 0 {
		w.Depth = l.Depth
	}
	return w.Run(ctx)
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
		all = append(all, finder.Entry{Name: e.Name, Type: t})
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

// Read implements finder.Tree: no lock here is a file.
func (dirTree) Read(string) finder.Content { return finder.Content{} }

// A listKind recognizes our locks among directories.
type listKind struct {
	place *Lock // the directory of locks, as if it were a lock itself
	dir   dirs.Dir
	empty bool // an empty directory is a lock, too
}

// at is the lock at a path below the place, in one of the styles.
func (k listKind) at(path string, style Style) *Lock {
	l := *k.place
	place, _, _ := strings.Cut(string(l.Address), "?")
	l.Name, l.Address, l.Style = l.Name+path, backend.Name(place).Below(path), style
	if style == DirStyle {
		l.Address += "?style=dir"
		if !l.Tokens {
			l.Address += "&tokens=no"
		}
	}
	return &l
}

// Beside implements finder.DirectoryKind. A plain lock that is free but waited for has no
// directory: it is told of at its first reservation.
func (k listKind) Beside(ctx context.Context, in *finder.Directory, name string) finder.Answer {
	lock, ok := labels.LockOfReservation(name)
	switch {
	case labels.IsScratch(name):
		return finder.Answer{Mine: true}
	case !ok:
		return finder.Answer{}
	case in.HasDirectory(lock), k.place.Style == DirStyle, reservationsOf(in, lock)[0] != name:
		return finder.Answer{Mine: true}
	}
	return k.plain(ctx, in.Path+"/"+lock, nil, reservationsOf(in, lock))
}

// Directory implements finder.DirectoryKind.
func (k listKind) Directory(ctx context.Context, d, in *finder.Directory) finder.Answer {
	names := subdirectories(d.Entries)
	empty := k.empty && len(d.Entries) == 0
	switch {
	case k.isDirStyle(d):
		return k.see(ctx, k.at(d.Path, DirStyle), func(i *inspection, dir dirs.Dir) error { return i.all(ctx, dir, names) })
	case k.place.Style == DirStyle:
		return finder.Answer{}
	case in == nil && len(labels.EntriesIn(names)) > 0:
		return k.see(ctx, k.at("", PlainStyle), func(i *inspection, dir dirs.Dir) error { return i.look(ctx, dir) })
	case in == nil:
		return finder.Answer{} // the search begins in a place for locks, not in a lock
	}
	waiters := reservationsOf(in, d.Path[strings.LastIndexByte(d.Path, '/')+1:])
	if len(labels.EntriesIn(names)) == 0 && len(waiters) == 0 && !empty {
		return finder.Answer{}
	}
	if empty && len(waiters) == 0 && d.Full() {
		return finder.Answer{LeftOut: true, Mine: true}
	}
	return k.plain(ctx, d.Path, d, waiters)
}

// Part implements finder.DirectoryKind.
func (k listKind) Part(name string) bool {
	_, ok := labels.ParseEntry(name)
	return ok || labels.IsDirStyle(dirs.Entry{Name: name})
}

// isDirStyle reports that a directory is a lock in dir style. That a directory called "lock" is
// in it proves nothing, for a plain lock may have that name; unless only locks in dir style are
// asked for, and nothing else is in it.
func (k listKind) isDirStyle(d *finder.Directory) bool {
	parts, proven := 0, false
	for _, e := range d.Entries {
		if e.Type == finder.Subdirectory && labels.IsDirStyle(dirs.Entry{Name: e.Name}) {
			parts++
			proven = proven || e.Name != labels.LockName
		}
	}
	return proven || k.place.Style == DirStyle && parts > 0 && parts == len(d.Entries)
}

// plain tells of a plain lock: d is its directory, nil if there is none.
func (k listKind) plain(ctx context.Context, path string, d *finder.Directory, waiters []string) finder.Answer {
	l := k.at(path, PlainStyle)
	return k.see(ctx, l, func(i *inspection, _ dirs.Dir) error {
		if d != nil {
			var names []string
			for _, e := range d.Entries {
				names = append(names, e.Name)
			}
			if err := i.holders(ctx, names); err != nil {
				return err
			}
		}
		parent := l.Name[:strings.LastIndexByte(l.Name, '/')+1]
		for n := range waiters {
			waiters[n] = parent + waiters[n]
		}
		return i.reservations(ctx, waiters)
	})
}

func (k listKind) see(ctx context.Context, l *Lock, look func(*inspection, dirs.Dir) error) finder.Answer {
	i := inspection{lock: l, dir: k.dir, others: l.newOthers(k.dir, backend.Request{Clock: clock.Boot{}})}
	err := look(&i, k.dir)
	if err == nil && l.Style == PlainStyle && len(i.report.Holders) == 0 && len(i.report.Waiters) == 0 {
		return finder.Answer{Mine: true} // it has just gone
	}
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.Address), Report: i.report, Err: err}, Mine: true}
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

// Package finder finds the locks in a directory, and below it. A kind of locks says what the names in
// one directory are, and looks at one lock (Kind). The walk is written here, for all kinds and places:
// how deep it goes, what it cannot look into, what is gone meanwhile, and how many locks are told.
//
// A walk keeps in memory the names of one directory and of those above it, and nothing else. What
// changes during the walk may be missed, or be told as it was before.
package finder

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/shelf"
)

// A Place is a backend.Backend whose address may also be that of a directory of locks. Of a kind that
// is no Place, the lock at the address is all that there is to find.
type Place interface {
	// Search says how to look for locks of this kind. After an error, too, the search is closed.
	Search(ctx context.Context) (Search, error)
}

// A Search is one look for the locks in a place.
type Search struct {
	Kind
	Tree  Tree // of directories: a FileTree, if they are on a file system; a Reader, if there is a File
	Depth int  // how deep to look if nobody says; 0: all
	// Flat, in a place without directories, tells of the directory of each name that only locks have:
	// "" is the place, and "a/" is below it. It ends with the error of tell. Then there is no Tree.
	Flat func(ctx context.Context, tell func(dir string) error) error
	// Fatal reports whether after this error nothing more can be found out; nil: never.
	Fatal func(error) bool
	Close func() // nil: nothing is kept open
	// Reap removes by age what was left behind, at every lock directly in the place; nil: these locks
	// heal themselves. No rule makes that safe for a holder that lives and is silent. So only an
	// operator does it, or a job that an operator set up. Its error says why it did not look at all of
	// them, or that ctx ended too early. The list has what was done until then, and what else could
	// not be removed.
	Reap func(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error)
}

// A Kind tells locks of one kind from everything else. A kind leaves out what it has no use for, but
// for Place and Look.
type Kind struct {
	Place backend.Name // where the walk begins, as if that were a lock of this kind
	// Form is that of directories that are locks, even while they are free.
	Form backend.Form
	// File says what a regular file is. nil: nothing of ours.
	File func(in *Directory, name string, content func() Content) *Found
	// Beside says what a directory is that is not listed yet: it may be part of a lock beside it. If it
	// is ours, it is not walked into.
	Beside func(in *Directory, name string) *Found
	// Directory says what a directory is that was listed. If it is ours, it is walked into, except for
	// what is Part of the lock.
	Directory func(d *Directory) *Found
	// Part reports whether a name in a lock's directory belongs to the lock.
	Part func(name string) bool
	// Look looks at a lock. If it shows nobody, the lock has just gone.
	Look func(ctx context.Context, f Found) (backend.Report, error)
}

// A Found is what a kind recognised, so that no other kind is asked: a lock, or part of one.
type Found struct {
	Part bool       // it is part of a lock that is told elsewhere
	Path string     // of the lock, below the place
	In   *Directory // that the lock is in; nil: it is where the walk begins
	At   *Directory // the lock's own, as it was listed; nil: it has none now
	// Options are those of the lock's address, beside what Place has.
	Options map[string]string
	// Bare says that nothing of ours is in it. Anybody can make many such locks, and they count only if
	// no other kinds are looked for.
	Bare  bool
	IfMet bool // it counts only where backend.Listing.Met says so
	Lasts bool // it stays while it is free

	Address backend.Name // the walk fills it in, for Look
}

// Name is the name of the lock in its directory.
func (f Found) Name() string { return f.Path[strings.LastIndexByte(f.Path, '/')+1:] }

// A Type is the type of an entry. Only directories are walked into, and only regular files are
// opened.
type Type int

// The types.
const (
	Other Type = iota // such as a symbolic link
	RegularFile
	Subdirectory
)

// An Entry is something in a directory.
type Entry struct {
	Name string
	Type Type
	Age  time.Duration // since it last changed, at least, if the listing tells; 0: not known
}

// A Tree is where the walk goes. Paths are relative to the directory where it begins: "" is that
// directory, and "/a" is in it.
type Tree interface {
	// List lists a directory, in no order. Its error can be shown to people, unless it is
	// fs.ErrNotExist, which says that the directory has just gone.
	List(ctx context.Context, path string) ([]Entry, error)
}

// A Reader is a Tree in which files may be locks.
type Reader interface {
	Tree
	// Read reads a regular file.
	Read(path string) Content
}

// A Content is what was seen of a file.
type Content struct {
	Marked bool   // it has the mark of our lock files
	Text   string // all of it
	Err    error  // why it was not read, for example because it is longer than MaxText
}

// MaxText is how much of a file that may be another tool's is read, in bytes. No file of ours is
// longer (lockfile.MaxText).
const MaxText = 8192

// A Directory is a directory that was listed.
type Directory struct {
	Path    string
	In      *Directory // nil: the walk begins here
	Entries []Entry    // in the order of their names
	Several bool       // several kinds are looked for
}

// Found is the lock that the directory is.
func (d *Directory) Found() *Found { return &Found{Path: d.Path, In: d.In, At: d} }

// Lock is the lock of this name in the directory.
func (d *Directory) Lock(name string) *Found { return &Found{Path: d.Path + "/" + name, In: d} }

// Type returns the type of the entry with this name, if there is one.
func (d *Directory) Type(name string) (t Type, ok bool) {
	i, ok := d.find(name)
	if !ok {
		return Other, false
	}
	return d.Entries[i].Type, true
}

// Age returns the age of the entry with this name; 0: it is not known.
func (d *Directory) Age(name string) time.Duration {
	i, ok := d.find(name)
	if !ok {
		return 0
	}
	return d.Entries[i].Age
}

func (d *Directory) find(name string) (i int, ok bool) {
	return slices.BinarySearchFunc(d.Entries, name, func(e Entry, s string) int { return strings.Compare(e.Name, s) })
}

// lacks notes that a directory in it has gone since. What is beside it then counts without it.
func (d *Directory) lacks(name string) {
	if i, ok := d.find(name); ok {
		d.Entries[i].Type = Other
	}
}

// HasDirectory reports whether there is a directory of this name.
func (d *Directory) HasDirectory(name string) bool {
	t, _ := d.Type(name)
	return t == Subdirectory
}

// Beginning returns the entries whose names begin with prefix.
func (d *Directory) Beginning(prefix string) []Entry {
	by := func(e Entry, s string) int { return cmp.Compare(e.Name, s) }
	from, _ := slices.BinarySearchFunc(d.Entries, prefix, by)
	all := d.Entries[from:]
	for i, e := range all {
		if !strings.HasPrefix(e.Name, prefix) {
			return all[:i]
		}
	}
	return all
}

// has reports whether the directory has a form.
func (d *Directory) has(form backend.Form) bool {
	return form != nil && !slices.ContainsFunc(form, func(name string) bool { return !d.HasDirectory(name) })
}

// Files is the search of a kind whose locks are regular files. file says what one is (Kind.File), and
// open returns the lock that it is.
func Files(root string, address backend.Name, file func(*Directory, string, func() Content) *Found, open func(Found) backend.Backend) Search {
	look := func(ctx context.Context, f Found) (backend.Report, error) { return shelf.Inspect(ctx, open(f)) }
	return Search{Tree: FileTree{Root: root, Address: string(address)}, Kind: Kind{Place: address, File: file, Look: look}}
}

// Begins is for Files whose locks begin with a text, and nothing else does.
func Begins(text string) func(*Directory, string, func() Content) *Found {
	return func(in *Directory, name string, content func() Content) *Found {
		if !strings.HasPrefix(content().Text, text) {
			return nil
		}
		return in.Lock(name)
	}
}

// In begins a search in the place of a backend. The caller closes it; after an error it is closed. Of a
// kind that is no Place the search is empty.
func In(ctx context.Context, b backend.Backend) (s Search, err error) {
	if place, ok := b.(Place); ok {
		s, err = place.Search(ctx)
	}
	if s.Close == nil {
		s.Close = func() {}
	}
	if err != nil {
		s.Close()
	}
	return s, err
}

// List tells of the locks that a backend finds at its address, as a backend.Listing says.
func List(ctx context.Context, b backend.Backend, address string, l backend.Listing) error {
	s, err := In(ctx, b)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Look == nil {
		if l.Step != nil {
			l.Step()
		}
		r, err := shelf.Inspect(ctx, b)
		l.Tell(backend.Listed{Lock: address, Report: r, Err: err})
		return nil
	}
	if _, local := s.Tree.(FileTree); !local {
		l.Step = nil // requests to a server end by themselves
	}
	l.Depth = cmp.Or(l.Depth, s.Depth)
	w := Walk{Tree: s.Tree, Kinds: []Kind{s.Kind}, Listing: l, fatal: s.Fatal}
	if s.Flat != nil {
		return w.flat(ctx, s.Flat)
	}
	return w.Run(ctx)
}

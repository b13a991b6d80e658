// Package finder walks a tree of directories for locks. Only a backend knows what its locks look
// like, so the walk asks it about each file (FileKind) or directory (DirectoryKind).
//
// A walk keeps in memory the names of one directory and of those above it, and nothing else. What
// changes during the walk may be missed, or be told as it was before.
package finder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"locksmith/backends/backend"
)

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
}

// A Tree is where the walk goes. Paths are relative to the directory where it begins: "" is that
// directory, and "/a" is in it.
type Tree interface {
	// List lists a directory, in no order. Its error can be shown to people, unless it is
	// fs.ErrNotExist, which says that the directory has just gone.
	List(ctx context.Context, path string) ([]Entry, error)
	// Read reads a regular file; see File.
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
	Entries []Entry // in the order of their names
	full    func() bool
}

// Full reports that no more foreign locks are told. To look at one closer would be in vain.
func (d *Directory) Full() bool { return d.full != nil && d.full() }

// Type returns the type of the entry with this name, if there is one.
func (d *Directory) Type(name string) (t Type, ok bool) {
	i, ok := slices.BinarySearchFunc(d.Entries, name, func(e Entry, s string) int { return strings.Compare(e.Name, s) })
	if !ok {
		return Other, false
	}
	return d.Entries[i].Type, true
}

// Lock returns the address and the path of the lock of this name in the directory, if place and
// root are those of the directory where the walk began.
func (d *Directory) Lock(place backend.Name, root, name string) (address backend.Name, path string) {
	below := d.Path + "/" + name
	return place.Below(below), root + below
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

// An Answer is what a kind says about a file or directory.
type Answer struct {
	Lock *backend.Listed // nil: there is no lock to tell of
	// LeftOut says, instead of Lock, that there is a foreign lock. The kind did not look at it, because
	// the directory was Full.
	LeftOut bool
	// Mine says that it belongs to a lock of this kind, so that no other kind is asked.
	Mine bool
}

// A FileKind finds locks that are files.
type FileKind interface {
	// File is asked about a regular file in a directory.
	File(ctx context.Context, in *Directory, name string, content func() Content) Answer
}

// A DirectoryKind finds locks that are directories.
type DirectoryKind interface {
	// Beside is asked about a directory that is not listed yet: it may be part of a lock beside
	// it. If the answer is Mine, the directory is not walked into.
	Beside(ctx context.Context, in *Directory, name string) Answer
	// Directory is asked about a directory d that was listed. in is its parent, nil where the
	// walk begins. If the answer is Mine, d is walked into, except for what is Part of the lock.
	Directory(ctx context.Context, d, in *Directory) Answer
	// Part reports whether a name in a lock's directory belongs to the lock.
	Part(name string) bool
}

// A Walk is one walk through a tree.
type Walk struct {
	Tree            Tree
	Files           []FileKind
	Directories     []DirectoryKind
	backend.Listing // a depth of 0 is no limit
	// Fatal reports whether after this error nothing more can be found out.
	Fatal func(error) bool

	seen backend.Quota // how many locks there were so far
}

// form returns the first of these forms that the directory has, or nil.
func (d *Directory) form(all []backend.Form) backend.Form {
	for _, form := range all {
		if !slices.ContainsFunc(form, func(name string) bool { return !d.HasDirectory(name) }) {
			return form
		}
	}
	return nil
}

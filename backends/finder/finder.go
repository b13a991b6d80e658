// Package finder walks a tree of directories for locks. Only a backend knows what its
// locks look like: it is asked about each file and directory, as a FileKind or a
// DirectoryKind.
//
// A walk keeps the names of one directory and of those above it, and nothing else.
// What changes meanwhile may be missed or be told as it was.
package finder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"locksmith/backends/backend"
)

// A Type is what an entry is. Nothing but a directory is walked into, and nothing
// but a regular file is opened.
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

// A Tree is where the walk goes. Paths are relative to where it begins: "" is that
// directory, and "/a" is in it.
type Tree interface {
	// List lists a directory, in no order. Its error is fit to be shown, unless it is
	// fs.ErrNotExist: the directory has just gone.
	List(ctx context.Context, path string) ([]Entry, error)
	// Read reads a regular file; see File.
	Read(path string) Content
}

// A Content is what was seen of a file.
type Content struct {
	Marked bool   // it has the mark that lock files of ours are made with
	Text   string // all of it
	Err    error  // why it was not read, for example because it is longer than MaxText
}

// MaxText is how much is read of a file: no record is longer.
const MaxText = 8192

// A Directory is one that was listed.
type Directory struct {
	Path    string
	Entries []Entry // in the order of their names
}

// Type returns what has this name, if anything has.
func (d *Directory) Type(name string) (t Type, ok bool) {
	i, ok := slices.BinarySearchFunc(d.Entries, name, func(e Entry, s string) int { return strings.Compare(e.Name, s) })
	if !ok {
		return Other, false
	}
	return d.Entries[i].Type, true
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

// An Answer is what a kind says of a file or directory.
type Answer struct {
	Lock *backend.Listed // nil: none is to be told of here
	// Mine says that it belongs to a lock of this kind, and no other kind needs to
	// be asked.
	Mine bool
}

// A FileKind knows locks that are files.
type FileKind interface {
	// File is about a regular file in a directory.
	File(ctx context.Context, in *Directory, name string, content func() Content) Answer
}

// A DirectoryKind knows locks that are directories.
type DirectoryKind interface {
	// Beside is about a directory that is not listed yet: it may be part of a lock
	// beside it. It is then not walked into.
	Beside(ctx context.Context, in *Directory, name string) Answer
	// Directory is about a directory that was listed. In is the one that it is in,
	// nil where the walk begins. If the answer is Mine, the directory is walked into,
	// except for what is Part of the lock.
	Directory(ctx context.Context, d, in *Directory) Answer
	// Part reports whether a name in a lock belongs to it.
	Part(name string) bool
}

// A Walk is one pass.
type Walk struct {
	Tree            Tree
	Files           []FileKind
	Directories     []DirectoryKind
	backend.Listing // its depth is unlimited if it is 0
	// Fatal reports that after this error nothing more will be found out.
	Fatal func(error) bool
}

// form is the form that a directory has, nil if none of these.
func (d *Directory) form(all []backend.Form) backend.Form {
	for _, form := range all {
		if !slices.ContainsFunc(form, func(name string) bool { return !d.HasDirectory(name) }) {
			return form
		}
	}
	return nil
}

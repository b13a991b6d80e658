package generation

import (
	"context"
	"errors"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A Named is a note as a listing shows it.
type Named struct {
	owner.Note        // what its name tells
	Sign       string // changes when it is written anew
}

// Notes keeps the notes of breaks by hand. Each has a name, which tells whose acquisition was
// broken, and which lease that had.
type Notes interface {
	// Read returns what is in one; empty if there is none.
	Read(ctx context.Context, named owner.Note) (text string, err error)
	Write(ctx context.Context, n owner.Note, text string) error
	// Remove removes one. That it is gone is no error.
	Remove(ctx context.Context, n owner.Note) error
}

// notePrefix begins the name of a note.
const notePrefix = "broken."

// NoteName is where a note is kept, in either form.
func NoteName(n owner.Note) string { return notePrefix + n.Name() }

// ParseNoteName reads what NoteName wrote, and nothing else.
func ParseNoteName(name string) (owner.Note, bool) {
	rest, ok := strings.CutPrefix(name, notePrefix)
	if !ok {
		return owner.Note{}, false
	}
	return owner.ParseNoteName(rest)
}

// KeepNote writes a note, and removes the oldest of those before it if they are too many.
func KeepNote(ctx context.Context, l backend.Name, all Notes, before []Named, n owner.Note) error {
	text, err := n.Format()
	if err != nil {
		return l.Fail("keep a note of who broke it", err, nil)
	}
	if err := all.Write(ctx, n, text); err != nil {
		return err
	}
	var others []owner.Note
	for _, b := range before {
		if b.ID != n.ID {
			others = append(others, b.Note)
		}
	}
	read := func(named owner.Note) (owner.Note, bool) {
		n, _ := ReadNote(ctx, all, named)
		if n == nil {
			return named, false
		}
		return *n, true
	}
	for _, b := range owner.SuperfluousNotes(others, read) {
		_ = all.Remove(ctx, b) // the next one tries again
	}
	return nil
}

// ReadNote reads one; nil if there is none, or it is not one of ours.
func ReadNote(ctx context.Context, all Notes, named owner.Note) (*owner.Note, error) {
	text, err := all.Read(ctx, named)
	if err != nil {
		return nil, err
	}
	if n, ok := owner.ParseNote(named, text); ok {
		return &n, nil
	}
	return nil, nil
}

// LastNote is that of the last break by hand, for people.
func LastNote(ctx context.Context, all Notes, named []Named) *owner.Note {
	var readable []owner.Note
	for _, n := range named[:min(len(named), owner.MaxNotes)] { // somebody else wrote the others
		if n, _ := ReadNote(ctx, all, n.Note); n != nil {
			readable = append(readable, *n)
		}
	}
	return owner.NewestNote(readable)
}

// ForgetNotes removes all of them with their lock.
func ForgetNotes(ctx context.Context, all Notes, named []Named) error {
	for _, n := range named {
		if err := all.Remove(ctx, n.Note); err != nil {
			return err
		}
	}
	return nil
}

// TendNotes removes those of which whoever lost the lock must have learned: we have seen them
// for that one's lease.
func TendNotes(ctx context.Context, all Notes, named []Named, w *watch.Watcher) (errs error) {
	for _, n := range named {
		if w.Listed(NoteName(n.Note), n.Sign, watch.Rule{Lease: n.Lease}) <= 0 {
			errs = errors.Join(errs, all.Remove(ctx, n.Note))
		}
	}
	return errs
}

// Package notes keeps notes beside a lock of who broke it by hand. The rule is here, for all kinds that
// have a Shelf.
package notes

import (
	"context"
	"errors"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A Shelf has small texts that are kept beside a lock, and are no part of it: notes of breaks by hand,
// and successes. Each name carries the id of an acquisition. op is what a call is for, for its error.
type Shelf interface {
	// Read returns a text, which may be empty if there is none.
	Read(ctx context.Context, op, name string) (string, error)
	Write(ctx context.Context, op, name, text string) error
	// Remove removes a text. One that is gone is no error.
	Remove(ctx context.Context, op, name string) error
}

// A Named is a note as a listing shows it.
type Named struct {
	owner.Note        // what its name tells
	Sign       string // changes when it is written anew
}

// prefix begins the name of a note.
const prefix = "broken."

// Name is where a note is kept, in either form.
func Name(n owner.Note) string { return prefix + n.Name() }

// ParseName reads what Name wrote, and nothing else.
func ParseName(name string) (owner.Note, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return owner.Note{}, false
	}
	return owner.ParseNoteName(rest)
}

// Keep writes a note. If there are too many, it removes the oldest of those before it.
func Keep(ctx context.Context, l backend.Name, all Shelf, before []Named, n owner.Note) error {
	const op = "keep a note of who broke it"
	text, err := n.Format()
	if err != nil {
		return l.Fail(op, err, nil)
	}
	if err := all.Write(ctx, op, Name(n), text); err != nil {
		return err
	}
	var others []owner.Note
	for _, b := range before {
		if b.ID != n.ID {
			others = append(others, b.Note)
		}
	}
	read := func(named owner.Note) (owner.Note, bool) {
		n, _ := Read(ctx, all, named)
		if n == nil {
			return named, false
		}
		return *n, true
	}
	for _, b := range owner.SuperfluousNotes(others, read) {
		_ = remove(ctx, all, b) // the next one tries again
	}
	return nil
}

// Read reads a note; nil if there is none, or it is not ours.
func Read(ctx context.Context, all Shelf, named owner.Note) (*owner.Note, error) {
	text, err := all.Read(ctx, "read a note", Name(named))
	if err != nil {
		return nil, err
	}
	if n, ok := owner.ParseNote(named, text); ok {
		return &n, nil
	}
	return nil, nil
}

func remove(ctx context.Context, all Shelf, n owner.Note) error {
	return all.Remove(ctx, "remove a note", Name(n))
}

// Last is the note of the last break by hand, for people.
func Last(ctx context.Context, all Shelf, named []Named) *owner.Note {
	var readable []owner.Note
	for _, n := range named[:min(len(named), owner.MaxNotes)] { // others than us wrote more than that
		if n, _ := Read(ctx, all, n.Note); n != nil {
			readable = append(readable, *n)
		}
	}
	return owner.NewestNote(readable)
}

// Forget removes all of them with their lock.
func Forget(ctx context.Context, all Shelf, named []Named) error {
	for _, n := range named {
		if err := remove(ctx, all, n.Note); err != nil {
			return err
		}
	}
	return nil
}

// Tend removes notes that the loser of the lock must have read: those that we have seen for
// the lease of the loser.
func Tend(ctx context.Context, all Shelf, named []Named, w *watch.Watcher) (errs error) {
	for _, n := range named {
		if w.Listed(Name(n.Note), n.Sign, watch.Rule{Lease: n.Lease}) <= 0 {
			errs = errors.Join(errs, remove(ctx, all, n.Note))
		}
	}
	return errs
}

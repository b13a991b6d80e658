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

// KeepNote writes a note. If there are too many, it removes the oldest of those before it.
func KeepNote(ctx context.Context, l backend.Name, all Texts, before []Named, n owner.Note) error {
	const op = "keep a note of who broke it"
	text, err := n.Format()
	if err != nil {
		return l.Fail(op, err, nil)
	}
	if err := all.Write(ctx, op, NoteName(n), text); err != nil {
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
		_ = removeNote(ctx, all, b) // the next one tries again
	}
	return nil
}

// ReadNote reads a note; nil if there is none, or it is not ours.
func ReadNote(ctx context.Context, all Texts, named owner.Note) (*owner.Note, error) {
	text, err := all.Read(ctx, "read a note", NoteName(named))
	if err != nil {
		return nil, err
	}
	if n, ok := owner.ParseNote(named, text); ok {
		return &n, nil
	}
	return nil, nil
}

func removeNote(ctx context.Context, all Texts, n owner.Note) error {
	return all.Remove(ctx, "remove a note", NoteName(n))
}

// LastNote is the note of the last break by hand, for people.
func LastNote(ctx context.Context, all Texts, named []Named) *owner.Note {
	var readable []owner.Note
	for _, n := range named[:min(len(named), owner.MaxNotes)] { // others than us wrote more than that
		if n, _ := ReadNote(ctx, all, n.Note); n != nil {
			readable = append(readable, *n)
		}
	}
	return owner.NewestNote(readable)
}

// ForgetNotes removes all of them with their lock.
func ForgetNotes(ctx context.Context, all Texts, named []Named) error {
	for _, n := range named {
		if err := removeNote(ctx, all, n.Note); err != nil {
			return err
		}
	}
	return nil
}

// TendNotes removes notes that the loser of the lock must have read: those that we have seen for
// the lease of the loser.
func TendNotes(ctx context.Context, all Texts, named []Named, w *watch.Watcher) (errs error) {
	for _, n := range named {
		if w.Listed(NoteName(n.Note), n.Sign, watch.Rule{Lease: n.Lease}) <= 0 {
			errs = errors.Join(errs, removeNote(ctx, all, n.Note))
		}
	}
	return errs
}

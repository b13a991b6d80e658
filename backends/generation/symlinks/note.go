//go:build unix

package symlinks

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/notes"
	"locksmith/backends/owner"
)

// texts keeps each text as the target of a symbolic link in Reservations. Locksmiths that do not
// know texts leave them alone, and refuse to remove the lock.
type texts struct{ lock *Lock }

// Read implements notes.Shelf. A text that cannot be read is none.
func (s texts) Read(ctx context.Context, _, name string) (string, error) {
	text, _ := s.lock.Dir.Readlink(ctx, Reservations+"/"+name)
	return text, nil
}

// Write implements notes.Shelf.
func (s texts) Write(ctx context.Context, op, name, text string) error {
	err := s.lock.Dir.Symlink(ctx, text, Reservations+"/"+name)
	if err == nil {
		return nil
	}
	if _, unseen := s.lock.Dir.Look(ctx, Reservations+"/"+name); unseen != nil {
		return s.lock.Fail(op, err)
	}
	return nil
}

// Remove implements notes.Shelf.
func (s texts) Remove(ctx context.Context, op, name string) error {
	if err := s.lock.Dir.Unlink(ctx, Reservations+"/"+name); err != nil && !absent(err) {
		return s.lock.Fail(op, err)
	}
	return nil
}

// notesIn are the notes of breaks by hand among the names in Reservations. None is ever written
// anew.
func notesIn(names []string) (all []notes.Named) {
	for _, name := range names {
		if n, ok := notes.ParseName(name); ok {
			all = append(all, notes.Named{Note: n, Sign: "note"})
		}
	}
	return all
}

var (
	_ backend.NoteKeeper = (*Lock)(nil)
	_ backend.NotedHold  = (*hold)(nil)
)

// KeepNote implements backend.NoteKeeper.
func (l *Lock) KeepNote(ctx context.Context, n owner.Note) error {
	names, err := l.names(ctx, Reservations)
	if err != nil {
		return l.Fail("list reservations", err)
	}
	return notes.Keep(ctx, l.Address, texts{l}, notesIn(names), n)
}

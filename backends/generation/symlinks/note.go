//go:build unix

package symlinks

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
)

// notes keeps each note of a break by hand as a symbolic link in Reservations, whose target is
// the note. Locksmiths that know nothing of notes leave them alone, and refuse to remove the
// lock.
type notes struct{ lock *Lock }

func notePath(n owner.Note) string { return Reservations + "/" + generation.NoteName(n) }

// notesIn are those among the names in Reservations. None is ever written anew.
func notesIn(names []string) (all []generation.Named) {
	for _, name := range names {
		if n, ok := generation.ParseNoteName(name); ok {
			all = append(all, generation.Named{Note: n, Sign: "note"})
		}
	}
	return all
}

// Read implements generation.Notes. A note that cannot be read is none.
func (s notes) Read(ctx context.Context, named owner.Note) (string, error) {
	text, _ := s.lock.Dir.Readlink(ctx, notePath(named))
	return text, nil
}

// Write implements generation.Notes.
func (s notes) Write(ctx context.Context, n owner.Note, text string) error {
	err := s.lock.Dir.Symlink(ctx, text, notePath(n))
	if err == nil {
		return nil
	}
	if _, unseen := s.lock.Dir.Look(ctx, notePath(n)); unseen != nil {
		return s.lock.Fail("keep a note of who broke it", err)
	}
	return nil
}

// Remove implements generation.Notes.
func (s notes) Remove(ctx context.Context, n owner.Note) error {
	if err := s.lock.Dir.Unlink(ctx, notePath(n)); err != nil && !absent(err) {
		return s.lock.Fail("remove a note", err)
	}
	return nil
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
	return generation.KeepNote(ctx, l.Address, notes{l}, notesIn(names), n)
}

// Note implements backend.NotedHold.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	return generation.ReadNote(ctx, notes{h.claim.lock}, owner.Note{ID: h.claim.ticket.id, Lease: h.claim.ticket.lease})
}

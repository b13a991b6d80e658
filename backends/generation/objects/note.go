package objects

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
)

// notes keeps each note of a break by hand as an object, whose content is the note.
type notes struct{ lock *Lock }

// named are the notes that a listing showed.
func (v view) named() (all []generation.Named) {
	for _, o := range v.notes {
		n, _ := generation.ParseNoteName(o.Key)
		all = append(all, generation.Named{Note: n, Sign: sign(o)})
	}
	return all
}

// Read implements generation.Notes.
func (s notes) Read(ctx context.Context, named owner.Note) (string, error) {
	_, content, err := s.lock.Store.Get(ctx, generation.NoteName(named))
	if err != nil && !absent(err) {
		return "", s.lock.fail("read a note", err)
	}
	return string(content), nil
}

// Write implements generation.Notes.
func (s notes) Write(ctx context.Context, n owner.Note, text string) error {
	if err := s.lock.Store.Put(ctx, generation.NoteName(n), []byte(text)); err != nil {
		return s.lock.fail("keep a note of who broke it", err)
	}
	return nil
}

// Remove implements generation.Notes.
func (s notes) Remove(ctx context.Context, n owner.Note) error {
	if err := s.lock.Store.Delete(ctx, generation.NoteName(n)); err != nil {
		return s.lock.fail("remove a note", err)
	}
	return nil
}

var (
	_ backend.NoteKeeper = (*Lock)(nil)
	_ backend.NotedHold  = (*hold)(nil)
)

// KeepNote implements backend.NoteKeeper.
func (l *Lock) KeepNote(ctx context.Context, n owner.Note) error {
	v, err := l.list(ctx)
	if err != nil {
		return err
	}
	return generation.KeepNote(ctx, l.Address, notes{l}, v.named(), n)
}

// Note implements backend.NotedHold.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	return generation.ReadNote(ctx, notes{h.claim.lock}, owner.Note{ID: h.claim.ticket.id, Lease: h.claim.ticket.lease})
}

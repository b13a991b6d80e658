package member

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// Kept reports whether the system keeps a hold for its process (backend.KeptHold).
func Kept(h backend.Hold) bool {
	k, ok := h.(backend.KeptHold)
	return ok && k.Kept()
}

// Lend lends a hold's descriptors, if it has any.
func Lend(h backend.Hold) ([]int, error) {
	k, ok := h.(backend.KeptHold)
	if !ok {
		return nil, nil
	}
	return k.Lend()
}

// NoteOf returns the note about the end of a hold, if its kind has notes.
func NoteOf(ctx context.Context, h backend.Hold) (*owner.Note, error) {
	noted, ok := h.(backend.NotedHold)
	if !ok {
		return nil, nil
	}
	return noted.Note(ctx)
}

package shelf

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// notePrefix begins the name of a note.
const notePrefix = "broken."

// noteSlip is where a note is kept, in all kinds. None is ever written anew.
func noteSlip(n owner.Note) Slip { return Slip{Name: notePrefix + n.Name(), Sign: "note", Note: n} }

// ParseNote reads the name of a note, and nothing else.
func ParseNote(name string) (Slip, bool) {
	rest, ok := strings.CutPrefix(name, notePrefix)
	n, is := owner.ParseNoteName(rest)
	if !ok || !is {
		return Slip{}, false
	}
	return noteSlip(n), true
}

// notesIn are the notes among some slips.
func notesIn(all []Slip) (notes []Slip) {
	for _, s := range all {
		if s.Note.ID != "" {
			notes = append(notes, s)
		}
	}
	return notes
}

// KeepNote writes a note of an acquisition that was just broken. If there are too many, it removes the
// oldest of those before it. Its error is errors.ErrUnsupported if the place has no notes.
func KeepNote(ctx context.Context, k Keeper, lock backend.Name, n owner.Note) error {
	const op = "keep a note of who broke it"
	text, err := n.Format()
	if err != nil {
		return lock.Fail(op, err, nil)
	}
	return k.OnShelf(ctx, nil, func(s Shelf) error {
		ours := noteSlip(owner.Note{ID: n.ID, Lease: n.Lease})
		ours.Text = text
		if err := s.Write(ctx, op, &ours); err != nil {
			return err
		}
		if all, err := s.List(ctx); err == nil {
			others := slices.DeleteFunc(notesIn(all), func(b Slip) bool { return b.Note.ID == n.ID })
			for _, b := range superfluous(ctx, s, others) {
				_ = s.Remove(ctx, "remove a note", b)
			}
		}
		return nil // the next one tries again
	})
}

// superfluous returns which of the notes before ours are too many: the oldest, by the clocks of those who
// wrote them. What cannot be read goes first.
func superfluous(ctx context.Context, s Shelf, others []Slip) []Slip {
	if len(others) < owner.MaxNotes {
		return nil
	}
	for i := range others[:min(len(others), 4*owner.MaxNotes)] { // so many only somebody else can have made
		if n, _ := readNote(ctx, s, others[i]); n != nil {
			others[i].Note = *n
		}
	}
	slices.SortStableFunc(others, func(x, y Slip) int { return y.Note.At.Compare(x.Note.At) })
	return others[owner.MaxNotes-1:]
}

// readNote reads a note; nil if there is none, or it is not ours.
func readNote(ctx context.Context, s Shelf, slip Slip) (*owner.Note, error) {
	if err := s.Read(ctx, "read a note", &slip); err != nil {
		return nil, err
	}
	if n, ok := owner.ParseNote(slip.Note, slip.Text); ok {
		return &n, nil
	}
	return nil, nil
}

// NoteOf returns the note about the end of a hold of a lock, which had this lease; nil if there is none.
func NoteOf(ctx context.Context, l backend.Locker, h backend.Hold, lease time.Duration) (note *owner.Note, err error) {
	if several, ok := h.(backend.SeveralHold); ok {
		return several.Note(ctx)
	}
	if k, ok := l.(Keeper); ok {
		err = k.OnShelf(ctx, h, func(s Shelf) (err error) {
			note, err = readNote(ctx, s, noteSlip(owner.Note{ID: h.ID(), Lease: lease}))
			return err
		})
	}
	return note, err
}

// lastNote is the note of the last break by hand, by the clocks of those who wrote the notes, for people.
func lastNote(ctx context.Context, s Shelf, all []Slip) (newest *owner.Note) {
	named := notesIn(all)
	for _, slip := range named[:min(len(named), owner.MaxNotes)] { // others than us wrote more than that
		if n, _ := readNote(ctx, s, slip); n != nil && (newest == nil || n.At.After(newest.At)) {
			newest = n
		}
	}
	return newest
}

// Tend removes notes that the loser of the lock must have read: those that we have seen for
// the lease of the loser.
func Tend(ctx context.Context, s Shelf, all []Slip, w *watch.Watcher) (errs error) {
	for _, n := range notesIn(all) {
		if w.Listed(n.Name, n.Sign, watch.Rule{Lease: n.Note.Lease}) <= 0 {
			errs = errors.Join(errs, s.Remove(ctx, "remove a note", n))
		}
	}
	return errs
}

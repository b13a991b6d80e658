//go:build unix

package symlinks

import (
	"context"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A note of a break by hand is kept as a symbolic link broken.<lease>-<id> in Reservations,
// whose target is the note. Locksmiths that know nothing of notes leave them alone, and refuse
// to remove the lock.

const notePrefix = "broken."

func notePath(n owner.Note) string { return Reservations + "/" + notePrefix + n.Name() }

// parseNoteName reads a name in Reservations.
func parseNoteName(name string) (owner.Note, bool) {
	rest, ok := strings.CutPrefix(name, notePrefix)
	if !ok {
		return owner.Note{}, false
	}
	return owner.ParseNoteName(rest)
}

func notesIn(names []string) (all []owner.Note) {
	for _, name := range names {
		if n, ok := parseNoteName(name); ok {
			all = append(all, n)
		}
	}
	return all
}

var _ backend.NoteKeeper = (*Lock)(nil)

// KeepNote implements backend.NoteKeeper.
func (l *Lock) KeepNote(ctx context.Context, n owner.Note) error {
	const op = "keep a note of who broke it"
	text, err := n.Format()
	if err != nil {
		return l.Fail(op, err)
	}
	names, err := l.names(ctx, Reservations)
	if err != nil {
		return l.Fail("list reservations", err)
	}
	before := slices.DeleteFunc(notesIn(names), func(b owner.Note) bool { return b.ID == n.ID })
	if err := l.Dir.Symlink(ctx, text, notePath(n)); err != nil {
		if _, unseen := l.Dir.Look(ctx, notePath(n)); unseen != nil {
			return l.Fail(op, err)
		}
	}
	read := func(named owner.Note) (owner.Note, bool) { return l.note(ctx, named) }
	for _, b := range owner.SuperfluousNotes(before, read) {
		_ = l.Dir.Unlink(ctx, notePath(b)) // the next one tries again
	}
	return nil
}

// note reads one; not ok if it is gone, or is not one of ours.
func (l *Lock) note(ctx context.Context, named owner.Note) (owner.Note, bool) {
	text, err := l.Dir.Readlink(ctx, notePath(named))
	if err != nil {
		return owner.Note{}, false
	}
	return owner.ParseNote(named, text)
}

var _ backend.NotedHold = (*hold)(nil)

// Note implements backend.NotedHold.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	t := h.claim.ticket
	n, ok := h.claim.lock.note(ctx, owner.Note{ID: t.id, Lease: t.lease})
	if !ok {
		return nil, nil
	}
	return &n, nil
}

// note sees the last one, for people.
func (i *inspection) note(ctx context.Context, names []string) {
	var all []owner.Note
	for k, named := range notesIn(names) {
		if k == owner.MaxNotes {
			break // somebody else wrote them
		}
		if n, ok := i.lock.note(ctx, named); ok {
			all = append(all, n)
		}
	}
	i.report.Broken = owner.NewestNote(all)
}

// forgetNotes removes all of them with their lock.
func (l *Lock) forgetNotes(ctx context.Context, names []string) error {
	for _, n := range notesIn(names) {
		if err := l.Dir.Unlink(ctx, notePath(n)); err != nil && !absent(err) {
			return l.Fail("remove a note", err)
		}
	}
	return nil
}

// note removes one when whoever lost the lock must have noticed: we have seen it for that
// one's lease.
func (s *tending) note(ctx context.Context, n owner.Note) error {
	if s.others.Listed(notePath(n), noteWatched, watch.Rule{Lease: n.Lease}) > 0 {
		return nil
	}
	if err := s.lock.Dir.Unlink(ctx, notePath(n)); err != nil && !absent(err) {
		return s.lock.Fail("remove a note", err)
	}
	return nil
}

// noteWatched is the sign of every note: none ever changes.
const noteWatched = "note"

package objects

import (
	"context"
	"errors"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A note of a break by hand is kept as an object broken.<lease>-<id>, whose content is the
// note.

func noteKey(n owner.Note) string { return notePrefix + n.Name() }

func parseNoteKey(key string) (owner.Note, bool) {
	rest, ok := strings.CutPrefix(key, notePrefix)
	if !ok {
		return owner.Note{}, false
	}
	return owner.ParseNoteName(rest)
}

var _ backend.NoteKeeper = (*Lock)(nil)

// KeepNote implements backend.NoteKeeper.
func (l *Lock) KeepNote(ctx context.Context, n owner.Note) error {
	const op = "keep a note of who broke it"
	text, err := n.Format()
	if err != nil {
		return l.fail(op, err)
	}
	v, err := l.list(ctx)
	if err != nil {
		return err
	}
	if err := l.Store.Put(ctx, noteKey(n), []byte(text)); err != nil {
		return l.fail(op, err)
	}
	var before []owner.Note
	for _, o := range v.notes {
		if named, _ := parseNoteKey(o.Key); named.ID != n.ID {
			before = append(before, named)
		}
	}
	read := func(named owner.Note) (owner.Note, bool) {
		if there, err := l.note(ctx, named); err == nil && there != nil {
			return *there, true
		}
		return named, false
	}
	for _, b := range owner.SuperfluousNotes(before, read) {
		_ = l.Store.Delete(ctx, noteKey(b)) // the next one tries again
	}
	return nil
}

// note reads one; nil if there is none, or it is not one of ours.
func (l *Lock) note(ctx context.Context, named owner.Note) (*owner.Note, error) {
	_, content, err := l.Store.Get(ctx, noteKey(named))
	switch {
	case absent(err):
		return nil, nil
	case err != nil:
		return nil, l.fail("read a note", err)
	}
	n, ok := owner.ParseNote(named, string(content))
	if !ok {
		return nil, nil
	}
	return &n, nil
}

var _ backend.NotedHold = (*hold)(nil)

// Note implements backend.NotedHold.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	t := h.claim.ticket
	return h.claim.lock.note(ctx, owner.Note{ID: t.id, Lease: t.lease})
}

// lastNote is that of the last break by hand, for people.
func (l *Lock) lastNote(ctx context.Context, v view) *owner.Note {
	var all []owner.Note
	for i, o := range v.notes {
		if i == owner.MaxNotes {
			break // somebody else wrote them
		}
		named, _ := parseNoteKey(o.Key)
		if n, err := l.note(ctx, named); n != nil && err == nil {
			all = append(all, *n)
		}
	}
	return owner.NewestNote(all)
}

// forgetNotes removes all of them with their lock.
func (l *Lock) forgetNotes(ctx context.Context, v view) error {
	for _, o := range v.notes {
		if err := l.Store.Delete(ctx, o.Key); err != nil {
			return l.fail("remove a note", err)
		}
	}
	return nil
}

// tendNotes removes those of which whoever lost the lock must have learned: we have seen them
// for that one's lease.
func (h *hold) tendNotes(ctx context.Context, v view) (errs error) {
	for _, o := range v.notes {
		n, _ := parseNoteKey(o.Key)
		if h.others.Listed(o.Key, sign(o), watch.Rule{Lease: n.Lease}) <= 0 {
			errs = errors.Join(errs, h.claim.lock.Store.Delete(ctx, o.Key))
		}
	}
	return errs
}

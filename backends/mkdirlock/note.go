package mkdirlock

import (
	"context"
	"maps"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/notes"
	"locksmith/backends/owner"
)

// A noteShelf keeps each note in the names of directories beside a lock in dir style. It implements
// notes.Shelf.
type noteShelf struct {
	lock  *Lock
	dir   dirs.Dir
	parts map[owner.Note][]labels.NotePart // that a listing showed
}

// notes are the notes among the names beside a lock, and their shelf. In plain style there are none.
func (l *Lock) notes(dir dirs.Dir, names []string) (s noteShelf, all []notes.Named) {
	s = noteShelf{l, dir, nil}
	if l.Style != DirStyle {
		return s, nil
	}
	s.parts = labels.PartsOfNotes(names)
	for _, n := range slices.SortedFunc(maps.Keys(s.parts), func(a, b owner.Note) int { return strings.Compare(a.Name(), b.Name()) }) {
		all = append(all, notes.Named{Note: n, Sign: "note"})
	}
	return s, all
}

// Read implements notes.Shelf. A text that cannot be read is none.
func (s noteShelf) Read(_ context.Context, _, name string) (string, error) {
	named, _ := notes.ParseName(name)
	return labels.UnpackNote(s.parts[named]), nil
}

// Write implements notes.Shelf.
func (s noteShelf) Write(ctx context.Context, op, name, text string) error {
	named, _ := notes.ParseName(name)
	for _, p := range labels.PackNote(named, text) {
		at := s.lock.Name + "/" + p.String()
		if err := s.dir.Mkdir(ctx, at); err != nil {
			if there, _ := s.lock.exists(ctx, s.dir, at); !there {
				return s.lock.fail(op, err)
			}
		}
	}
	return nil
}

// Remove implements notes.Shelf.
func (s noteShelf) Remove(ctx context.Context, op, name string) error {
	named, _ := notes.ParseName(name)
	for _, p := range s.parts[named] {
		if err := s.lock.removeIfEmpty(ctx, s.dir, s.lock.Name+"/"+p.String(), op); err != nil {
			return err
		}
	}
	return nil
}

var (
	_ backend.NoteKeeper = DirStyleLock{}
	_ backend.NotedHold  = (*hold)(nil)
)

// KeepNote implements backend.NoteKeeper.
func (l DirStyleLock) KeepNote(ctx context.Context, n owner.Note) error {
	dir := l.NewDir()
	defer dir.Close()
	names, err := dir.List(ctx, l.Name)
	if err != nil {
		return l.fail("keep a note of who broke it", err)
	}
	s, before := l.notes(dir, names)
	return notes.Keep(ctx, l.Address, s, before, n)
}

// Note implements backend.NotedHold. It opens the place anew, because a hold that has lost its
// lock has closed its dir.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	l := h.lock
	if l.Style != DirStyle {
		return nil, nil
	}
	dir := l.NewDir()
	defer dir.Close()
	names, err := l.namesIn(ctx, dir, l.Name, "look for a note")
	if err != nil {
		return nil, err
	}
	s, _ := l.notes(dir, names)
	t := h.claim.entry.Ticket
	return notes.Read(ctx, s, owner.Note{ID: t.ID, Lease: t.Lease})
}

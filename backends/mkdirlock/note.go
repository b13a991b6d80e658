package mkdirlock

import (
	"context"
	"maps"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

var _ backend.NoteKeeper = DirStyleLock{}

// KeepNote implements backend.NoteKeeper.
func (l DirStyleLock) KeepNote(ctx context.Context, n owner.Note) error {
	const op = "keep a note of who broke it"
	parts, err := labels.PackNote(n)
	if err != nil {
		return l.fail(op, err)
	}
	dir := l.NewDir()
	defer dir.Close()
	names, err := dir.List(ctx, l.Name)
	if err != nil {
		return l.fail(op, err)
	}
	for _, p := range parts {
		at := l.Name + "/" + p.String()
		if err := dir.Mkdir(ctx, at); err != nil {
			if there, _ := l.exists(ctx, dir, at); !there {
				return l.fail(op, err)
			}
		}
	}
	before := labels.PartsOfNotes(names)
	delete(before, parts[0].Note)
	read := func(named owner.Note) (owner.Note, bool) { return labels.UnpackNote(named, before[named]) }
	for _, named := range owner.SuperfluousNotes(slices.Collect(maps.Keys(before)), read) {
		_ = l.removeNote(ctx, dir, before[named]) // the next one tries again
	}
	return nil
}

func (l *Lock) removeNote(ctx context.Context, dir dirs.Dir, parts []labels.NotePart) error {
	for _, p := range parts {
		if err := l.removeIfEmpty(ctx, dir, l.Name+"/"+p.String(), "remove a note"); err != nil {
			return err
		}
	}
	return nil
}

var _ backend.NotedHold = (*hold)(nil)

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
	t := h.claim.entry.Ticket
	named := owner.Note{ID: t.ID, Lease: t.Lease}
	n, ok := labels.UnpackNote(named, labels.PartsOfNotes(names)[named])
	if !ok {
		return nil, nil
	}
	return &n, nil
}

// note puts the last note into the report, for people.
func (i *inspection) note(names []string) {
	var all []owner.Note
	for named, parts := range labels.PartsOfNotes(names) {
		if n, ok := labels.UnpackNote(named, parts); ok {
			all = append(all, n)
		}
	}
	i.report.Broken = owner.NewestNote(all)
}

// tendNotes removes a note when we have seen it for the lease of the holder that was broken: that
// one must have learned of its loss by then.
func (h *hold) tendNotes(ctx context.Context, names []string) error {
	if h.lock.Style != DirStyle {
		return nil
	}
	for n, parts := range labels.PartsOfNotes(names) {
		if h.others.Listed(labels.NotePrefix+n.Name(), "note", watch.Rule{Lease: n.Lease}) > 0 {
			continue
		}
		if err := h.lock.removeNote(ctx, h.dir, parts); err != nil {
			return err
		}
	}
	return nil
}

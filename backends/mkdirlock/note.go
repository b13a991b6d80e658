package mkdirlock

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// A note of a break by hand is kept as directories beside the lock in the style of
// directories: its text is cut into parts, and each is in a name,
// broken.<lease>-<id>.<i>.<number of parts>.<part>. Locksmiths that know nothing of notes leave
// them alone, and refuse to remove the lock.

const (
	notePrefix = "broken."
	// maxNotePart and maxNoteParts bound what a note may have.
	maxNotePart  = 180
	maxNoteParts = 9
)

// A notePart is one of the directories of a note.
type notePart struct {
	note     owner.Note // its id and lease
	i, parts int
	text     string
}

func (p notePart) String() string {
	return fmt.Sprintf("%s%s.%d.%d.%s", notePrefix, p.note.Name(), p.i, p.parts, p.text)
}

func parseNotePart(name string) (notePart, bool) {
	rest, ok := strings.CutPrefix(name, notePrefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return notePart{}, false
	}
	named, ok := owner.ParseNoteName(fields[0])
	i, err1 := strconv.Atoi(fields[1])
	parts, err2 := strconv.Atoi(fields[2])
	p := notePart{named, i, parts, fields[3]}
	return p, ok && err1 == nil && err2 == nil && 0 <= i && i < parts && parts <= maxNoteParts && p.String() == name
}

// partsOfNotes are those among the names beside the lock, by the note that they belong to.
func partsOfNotes(names []string) map[owner.Note][]notePart {
	all := map[owner.Note][]notePart{}
	for _, name := range names {
		if p, ok := parseNotePart(name); ok {
			all[p.note] = append(all[p.note], p)
		}
	}
	return all
}

// packNote cuts a note into its parts.
func packNote(n owner.Note) (parts []notePart, err error) {
	text, err := n.Format()
	if err != nil {
		return nil, err
	}
	named := owner.Note{ID: n.ID, Lease: n.Lease}
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString(compress(text))), maxNotePart) {
		parts = append(parts, notePart{note: named, i: len(parts), text: string(part)})
	}
	for i := range parts {
		parts[i].parts = len(parts)
	}
	return parts, nil
}

// unpackNote reads what packNote wrote; not ok if a part is missing, or it is not one of ours.
func unpackNote(named owner.Note, parts []notePart) (owner.Note, bool) {
	texts := make([]string, maxNoteParts)
	for _, p := range parts {
		texts[p.i] = p.text
	}
	if len(parts) == 0 || slices.Contains(texts[:parts[0].parts], "") {
		return owner.Note{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.Join(texts, ""))
	if err != nil {
		return owner.Note{}, false
	}
	text, err := decompress(raw)
	if err != nil {
		return owner.Note{}, false
	}
	return owner.ParseNote(named, text)
}

var _ backend.NoteKeeper = TreeLock{}

// KeepNote implements backend.NoteKeeper.
func (l TreeLock) KeepNote(ctx context.Context, n owner.Note) error {
	const op = "keep a note of who broke it"
	parts, err := packNote(n)
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
	before := partsOfNotes(names)
	delete(before, parts[0].note)
	read := func(named owner.Note) (owner.Note, bool) { return unpackNote(named, before[named]) }
	for _, named := range owner.SuperfluousNotes(slices.Collect(maps.Keys(before)), read) {
		_ = l.removeNote(ctx, dir, before[named]) // the next one tries again
	}
	return nil
}

func (l *Lock) removeNote(ctx context.Context, dir Dir, parts []notePart) error {
	for _, p := range parts {
		if err := l.removeIfEmpty(ctx, dir, l.Name+"/"+p.String(), "remove a note"); err != nil {
			return err
		}
	}
	return nil
}

var _ backend.NotedHold = (*hold)(nil)

// Note implements backend.NotedHold. Who has lost the lock has closed its directory.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	l := h.lock
	if l.Style != TreeStyle {
		return nil, nil
	}
	dir := l.NewDir()
	defer dir.Close()
	names, err := l.namesIn(ctx, dir, l.Name, "look for a note")
	if err != nil {
		return nil, err
	}
	t := h.claim.entry.ticket
	named := owner.Note{ID: t.id, Lease: t.lease}
	n, ok := unpackNote(named, partsOfNotes(names)[named])
	if !ok {
		return nil, nil
	}
	return &n, nil
}

// note sees the last one, for people.
func (i *inspection) note(names []string) {
	var all []owner.Note
	for named, parts := range partsOfNotes(names) {
		if n, ok := unpackNote(named, parts); ok {
			all = append(all, n)
		}
	}
	i.report.Broken = owner.NewestNote(all)
}

// tendNotes removes those of which whoever lost the lock must have learned: we have seen them
// for that one's lease.
func (h *hold) tendNotes(ctx context.Context, names []string) error {
	if h.lock.Style != TreeStyle {
		return nil
	}
	for n, parts := range partsOfNotes(names) {
		if h.others.Listed(notePrefix+n.Name(), "note", watch.Rule{Lease: n.Lease}) > 0 {
			continue
		}
		if err := h.lock.removeNote(ctx, h.dir, parts); err != nil {
			return err
		}
	}
	return nil
}

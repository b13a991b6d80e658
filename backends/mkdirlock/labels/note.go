package labels

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/owner"
)

// A note of a break by hand is kept in directories beside a lock in dir style. Its text is cut
// into parts; each is in a name, broken.<lease>-<id>.<i>.<number of parts>.<part>. Locksmiths
// that know nothing of notes leave them alone, and refuse to remove the lock.

const (
	// NotePrefix begins the names of notes.
	NotePrefix = "broken."
	// maxNotePart and maxNoteParts bound what a note may have.
	maxNotePart  = 180
	maxNoteParts = 9
)

// A NotePart is one of the directories of a note.
type NotePart struct {
	Note     owner.Note // its id and lease
	i, parts int
	text     string
}

func (p NotePart) String() string {
	return fmt.Sprintf("%s%s.%d.%d.%s", NotePrefix, p.Note.Name(), p.i, p.parts, p.text)
}

func parseNotePart(name string) (NotePart, bool) {
	rest, ok := strings.CutPrefix(name, NotePrefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return NotePart{}, false
	}
	named, ok := owner.ParseNoteName(fields[0])
	i, err1 := strconv.Atoi(fields[1])
	parts, err2 := strconv.Atoi(fields[2])
	p := NotePart{named, i, parts, fields[3]}
	return p, ok && err1 == nil && err2 == nil && 0 <= i && i < parts && parts <= maxNoteParts && p.String() == name
}

// PartsOfNotes returns the parts among the names beside the lock, by the note that they belong
// to.
func PartsOfNotes(names []string) map[owner.Note][]NotePart {
	all := map[owner.Note][]NotePart{}
	for _, name := range names {
		if p, ok := parseNotePart(name); ok {
			all[p.Note] = append(all[p.Note], p)
		}
	}
	return all
}

// PackNote cuts a note into its parts.
func PackNote(n owner.Note) (parts []NotePart, err error) {
	text, err := n.Format()
	if err != nil {
		return nil, err
	}
	named := owner.Note{ID: n.ID, Lease: n.Lease}
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString(Compress(text))), maxNotePart) {
		parts = append(parts, NotePart{Note: named, i: len(parts), text: string(part)})
	}
	for i := range parts {
		parts[i].parts = len(parts)
	}
	return parts, nil
}

// UnpackNote reads what PackNote wrote. It fails if a part is missing, or the note is not one of
// ours.
func UnpackNote(named owner.Note, parts []NotePart) (owner.Note, bool) {
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

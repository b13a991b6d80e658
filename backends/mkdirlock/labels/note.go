package labels

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/shelf"
)

// A note of a break by hand is kept in directories beside a lock in dir style. Its text is cut
// into parts; each is in a name, broken.<lease>-<id>.<i>.<number of parts>.<part>. Locksmiths
// that know nothing of notes leave them alone, and refuse to remove the lock.

// maxNotePart and maxNoteParts bound what a note may have.
const (
	maxNotePart  = 180
	maxNoteParts = 9
)

// A NotePart is one of the directories of a note.
type NotePart struct {
	Note     string // its name on the shelf
	i, parts int
	text     string
}

func (p NotePart) String() string {
	return fmt.Sprintf("%s.%d.%d.%s", p.Note, p.i, p.parts, p.text)
}

func parseNotePart(name string) (NotePart, bool) {
	fields := strings.Split(name, ".")
	if len(fields) != 5 {
		return NotePart{}, false
	}
	note, ok := shelf.ParseNote(fields[0] + "." + fields[1])
	i, err1 := strconv.Atoi(fields[2])
	parts, err2 := strconv.Atoi(fields[3])
	p := NotePart{note.Name, i, parts, fields[4]}
	return p, ok && err1 == nil && err2 == nil && 0 <= i && i < parts && parts <= maxNoteParts && p.String() == name
}

// PartsOfNotes returns the parts among the names beside the lock, by the name of the note
// that they belong to.
func PartsOfNotes(names []string) map[string][]NotePart {
	all := map[string][]NotePart{}
	for _, name := range names {
		if p, ok := parseNotePart(name); ok {
			all[p.Note] = append(all[p.Note], p)
		}
	}
	return all
}

// PackNote cuts the text of a note into its parts.
func PackNote(name, text string) (parts []NotePart) {
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString(Compress(text))), maxNotePart) {
		parts = append(parts, NotePart{Note: name, i: len(parts), text: string(part)})
	}
	for i := range parts {
		parts[i].parts = len(parts)
	}
	return parts
}

// UnpackNote returns the text that PackNote cut; "" if a part is missing or is not one of ours.
func UnpackNote(parts []NotePart) string {
	texts := make([]string, maxNoteParts)
	for _, p := range parts {
		texts[p.i] = p.text
	}
	if len(parts) == 0 || slices.Contains(texts[:parts[0].parts], "") {
		return ""
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.Join(texts, ""))
	if err != nil {
		return ""
	}
	text, err := decompress(raw)
	if err != nil {
		return ""
	}
	return text
}

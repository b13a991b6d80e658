package shelf

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/owner"
)

// TestNoteNames: a note's name comes back as it was, and nothing else is taken for one.
func TestNoteNames(t *testing.T) {
	n := owner.Note{ID: owner.NewID(), Lease: time.Minute}
	if got, ok := ParseNote(noteSlip(n).Name); !ok || got.Note != n {
		t.Errorf("ParseNote of %s: %+v, %t; want the note's id and lease", noteSlip(n).Name, got, ok)
	}
	for _, name := range []string{n.Name(), "", notePrefix, "x" + noteSlip(n).Name} {
		if got, ok := ParseNote(name); ok {
			t.Errorf("ParseNote takes %s for a note: %+v", name, got)
		}
	}
}

// reading counts what is read.
type reading struct {
	Shelf
	reads int
}

func (r *reading) Read(ctx context.Context, op string, s *Slip) error {
	r.reads++
	return r.Shelf.Read(ctx, op, s)
}

// TestSuperfluousNotes: the oldest go, whatever the order in which they were listed, and before
// them what cannot be read. Of a flood only some are read.
func TestSuperfluousNotes(t *testing.T) {
	at, texts := map[string]time.Time{}, Texts{}
	var all []Slip
	for i := range owner.MaxNotes + 3 {
		n := owner.Note{ID: strings.Repeat(string("0123456789abcdef"[i]), 32), Lease: time.Minute, At: time.Unix(1e9+int64(i*7%(owner.MaxNotes+3)), 0)}
		text, err := n.Format()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, noteSlip(owner.Note{ID: n.ID, Lease: n.Lease}))
		at[all[i].Name], texts[all[i].Name] = n.At, Text{Text: text}
	}
	torn := all[5].Name
	delete(at, torn)
	delete(texts, torn)
	s := &reading{Shelf: &texts}
	if some := superfluous(t.Context(), s, slices.Clone(all[:owner.MaxNotes-1])); len(some) > 0 {
		t.Errorf("of so many as may stay go: %v", some)
	}
	gone := superfluous(t.Context(), s, slices.Clone(all))
	if len(gone) != 4 || gone[3].Name != torn {
		t.Fatalf("the notes %v go, want four, of which the last is the one that cannot be read, %v", gone, torn)
	}
	for name, when := range at {
		if !slices.ContainsFunc(gone, func(g Slip) bool { return g.Name == name }) && when.Before(at[gone[0].Name]) {
			t.Errorf("the note %v stays, though it is older than %v, which goes", name, gone[0])
		}
	}
	s.reads = 0
	if superfluous(t.Context(), s, make([]Slip, 10_000)); s.reads > 100 {
		t.Errorf("of 10,000 notes %d are read, want 100 at most", s.reads)
	}
}

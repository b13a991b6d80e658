package generation

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/notes"
	"locksmith/backends/owner"
	"locksmith/backends/success"
)

// SuccessNames are the names of one form's successes: a prefix, the number of a generation, and
// its holder's id.
type SuccessNames struct {
	Prefix string
	Digits int // of a number, at least
}

// Of is the name of the success of a holder.
func (s SuccessNames) Of(n uint64, id string) string {
	return fmt.Sprintf("%s%0*d-%s", s.Prefix, s.Digits, n, id)
}

// Parse reads what Of wrote, and nothing else.
func (s SuccessNames) Parse(name string) (m success.Mark, ok bool) {
	rest, ok := strings.CutPrefix(name, s.Prefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	return success.Mark{Name: name, Number: n}, ok && err == nil && owner.IsID(id) && s.Of(n, id) == name
}

// Successes are the successes of a lock, each a text: the record of its holder. Each form lists
// them in its own way, for a success.Store.
type Successes struct {
	Texts notes.Shelf
	Names SuccessNames
	By    *Claim // ours; nil: we only read or remove them
}

// Read implements success.Store, except for the time. It fills in who succeeded, if that can be
// read.
func (s Successes) Read(ctx context.Context, m *success.Mark) error {
	if text, err := s.Texts.Read(ctx, "read who succeeded", m.Name); err == nil {
		r, _ := owner.ParseRecord(strings.TrimSuffix(text, "\n") + "\n")
		m.Host = r.Place.Host
	}
	return nil
}

// Write implements success.Store.
func (s Successes) Write(ctx context.Context, n uint64) (success.Mark, error) {
	m := success.Mark{Name: s.Names.Of(n, s.By.ID), Number: n}
	return m, s.Texts.Write(ctx, "record the success", m.Name, s.By.Record)
}

// Remove implements success.Store.
func (s Successes) Remove(ctx context.Context, m success.Mark) error {
	return s.Texts.Remove(ctx, "remove an older success", m.Name)
}

package notes

import (
	"testing"
	"time"

	"locksmith/backends/owner"
)

// TestName: a name comes back as it was, and nothing else is taken for one.
func TestName(t *testing.T) {
	n := owner.Note{ID: owner.NewID(), Lease: time.Minute}
	if got, ok := ParseName(Name(n)); !ok || got.ID != n.ID || got.Lease != n.Lease {
		t.Errorf("ParseName of %s: %+v, %t; want the note's id and lease", Name(n), got, ok)
	}
	if got, ok := ParseName(n.Name()); ok {
		t.Errorf("ParseName takes %s for a note: %+v", n.Name(), got)
	}
}

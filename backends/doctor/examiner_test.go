package doctor

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// forgetful is a place that says of the first few directories that they are gone.
type forgetful struct{ first int }

func (p *forgetful) Make(_ context.Context, name string) error {
	if strings.Contains(name, "/") && p.first > 0 {
		p.first--
		return fs.ErrNotExist
	}
	return nil
}

func (*forgetful) Remove(context.Context, string) error           { return nil }
func (*forgetful) List(context.Context, string) ([]string, error) { return nil, nil }

// TestNew: a name that counts as gone is made once more, under another name.
func TestNew(t *testing.T) {
	for first, want := range map[int]string{0: "d0", 1: "d1", 2: "d2", 3: ""} {
		x := &Examiner{Place: &forgetful{first}, Prefix: "d", Fail: func(_ string, err error) error { return err }}
		name, err := x.New(t.Context(), "in")
		if (err == nil) != (want != "") || err == nil && name != want || !slices.Contains(x.Made, name) {
			t.Errorf("with %d names that count as gone New makes %q, %v", first, name, err)
		}
	}
}

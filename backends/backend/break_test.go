package backend_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// moving is a lock in which somebody goes from one place to the next before each call of Strike.
type moving struct {
	all     []backend.Holder // where it is; the last is where it stays
	strikes int
	struck  any
}

func (m *moving) now() backend.Holder { return m.all[min(m.strikes, len(m.all)-1)] }

func (m *moving) Read(context.Context) (r backend.Report, err error) {
	r.Waiters = []backend.Holder{{ID: "other", Entry: "other"}}
	if h := m.now(); h.ID+h.Sign != "" {
		r.Holders = []backend.Holder{h}
	}
	return r, nil
}

func (m *moving) Strike(_ context.Context, h backend.Holder) error {
	m.strikes++
	if m.struck != nil || h.Entry != m.now().Entry {
		return backend.ErrGone
	}
	m.struck = h.Entry
	return nil
}

// TestBreak: it ends the one that is meant, wherever that is by then, and nobody else.
func TestBreak(t *testing.T) {
	at := func(id, sign string, entry any) backend.Holder {
		return backend.Holder{ID: id, Sign: sign, Entry: entry}
	}
	kept := backend.Holder{ID: "a", Entry: "x", OfKernel: true, Kept: []int{4242}}
	for name, c := range map[string]struct {
		seen   backend.Holder
		all    []backend.Holder
		struck any
		says   string // in the error; "": there is none
		is     error
	}{
		"it is there":                  {at("a", "1", "x"), []backend.Holder{at("a", "1", "x")}, "x", "", nil},
		"only its id is known":         {at("a", "", nil), []backend.Holder{at("a", "1", "x")}, "x", "", nil},
		"it has got the lock":          {at("a", "1", "x"), []backend.Holder{at("a", "1", "y")}, "y", "", nil},
		"it has gone":                  {at("a", "1", "x"), []backend.Holder{{}}, nil, "break a", backend.ErrGone},
		"somebody else is there":       {at("a", "1", "x"), []backend.Holder{at("b", "1", "y")}, nil, "break a", backend.ErrGone},
		"a sign that is still there":   {at("", "1", nil), []backend.Holder{at("", "1", "x")}, "x", "", nil},
		"a sign that has changed":      {at("", "1", "x"), []backend.Holder{at("", "2", "y")}, nil, "remove it", backend.ErrGone},
		"a sign of one that has an id": {at("", "1", "x"), []backend.Holder{at("b", "1", "y")}, nil, "remove it", backend.ErrGone},
		"the kernel keeps it":          {at("a", "", nil), []backend.Holder{kept}, nil, "kill 4242", backend.ErrLives},
		"the kernel kept it":           {kept, []backend.Holder{at("b", "1", "y")}, nil, "break a", backend.ErrGone},
		"nothing tells who":            {at("", "", "x"), []backend.Holder{at("", "", "x")}, nil, "remove it", backend.ErrGone},
	} {
		m := &moving{all: c.all}
		err := backend.Break(t.Context(), m, "kind:/x", c.seen)
		if m.struck != c.struck || !errors.Is(err, c.is) || c.is == nil && err != nil {
			t.Errorf("%s: it struck %v with the error %v, want %v and %v", name, m.struck, err, c.struck, c.is)
		}
		if err != nil && (!strings.Contains(err.Error(), c.says) || backend.CodeOf(err) != protocol.Gone && backend.CodeOf(err) != protocol.Held) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.says)
		}
	}
	hasty := &moving{} // it is always elsewhere by the time of the strike
	for n := range 100 {
		hasty.all = append(hasty.all, at("a", "1", n))
	}
	if err := backend.Break(t.Context(), hasty, "kind:/x", at("a", "1", nil)); backend.CodeOf(err) != protocol.Held || hasty.strikes > backend.Races {
		t.Errorf("one that is never where it was: %v after %d strikes", err, hasty.strikes)
	}
}

package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

const whole = lease + lease/100

// An entry is a watched thing, with what a look found in it.
type entry struct{ name, found string }

func (e entry) String() string { return e.name }

// TestOthers: each thing has its own watch, and keeps what its look found.
func TestOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signs := map[string]string{"a": "1", "b": "1"}
		gone := errors.New("gone")
		others := NewOthers(backend.Request{Clock: clock.Runtime{}}, func(_ context.Context, w *Watcher, e *entry, last Seen) (Seen, error) {
			sign, there := signs[e.name]
			if !there {
				return Seen{}, gone
			}
			e.found = "after " + last.Sign
			return Seen{Sign: sign, Verdict: owner.Unknown, Rules: []Rule{w.Rule(owner.Unknown, lease)}}, nil
		})
		look := func(name, found string, due time.Duration) {
			t.Helper()
			if o, err := others.Look(t.Context(), entry{name: name}); err != nil || o.Due != due || o.Of != (entry{name, found}) {
				t.Errorf("look at %v: it may be broken in %v, error %v; want %q found, and %v", o.Of, o.Due, err, found, due)
			}
		}
		look("a", "after ", whole)
		time.Sleep(lease)
		look("a", "after 1", whole-lease)
		look("b", "after ", whole)
		signs["a"] = "2"
		look("a", "after 1", whole)
		delete(signs, "b")
		if o, err := others.Look(t.Context(), entry{name: "b"}); !errors.Is(err, gone) || o.Due != Never {
			t.Errorf("a thing that is gone: %v, error %v; want Never and the error of See", o, err)
		}
		others.Keep(func(name string) bool { return name != "a" })
		look("a", "after ", whole)
	})
}

// TestListed: what is only listed may go once it was listed for the time of its rule.
func TestListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(backend.Request{Clock: clock.Runtime{}})
		for _, step := range []struct {
			sign string
			want time.Duration
		}{{"1", whole}, {"1", whole - time.Minute}, {"2", whole}, {"2", whole - time.Minute}, {"2", 0}} {
			if got := w.Listed("note", step.sign, Rule{Lease: lease}); got != step.want {
				t.Errorf("step %v (sign, want): it may be removed in %v", step, got)
			}
			time.Sleep(time.Minute)
		}
	})
}

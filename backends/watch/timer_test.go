package watch

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

const lease, grace = 100 * time.Second, 10 * time.Second

// look shows a watcher one sign of life of "x".
func look(t *testing.T, w *Watcher, sign string, rules ...Rule) Observation {
	t.Helper()
	o, err := w.Look("x", func(Seen) (Seen, error) { return Seen{Sign: sign, Rules: rules}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watching := func(r backend.Request) func(sign string, proof bool, want time.Duration) {
			r.Clock = clock.Runtime{}
			w := New(r)
			return func(sign string, proof bool, want time.Duration) {
				t.Helper()
				verdict := owner.Unknown
				if proof {
					verdict = owner.Dead
				}
				if got := look(t, w, sign, w.Rule(verdict, lease)).Due; got != want {
					t.Errorf("with sign %s, death proven %v, it may be broken in %v, want %v", sign, proof, got, want)
				}
			}
		}
		usual := watching(backend.Request{})
		usual("a1", false, 101*time.Second)
		time.Sleep(100 * time.Second)
		usual("a1", false, time.Second)
		usual("a2", false, 101*time.Second) // a heartbeat
		time.Sleep(101 * time.Second)
		usual("a2", false, 0)
		usual("b1", true, 0)

		strict := watching(backend.Request{Strict: true})
		strict("a", false, Never)
		time.Sleep(time.Hour)
		strict("a", false, Never)
		strict("a", true, 0)

		kind := watching(backend.Request{Grace: grace})
		kind("a", true, grace)
		time.Sleep(grace / 2)
		kind("a", true, grace/2)
		time.Sleep(grace / 2)
		kind("a", true, 0)
		kind("b", false, 101*time.Second+grace)

		endless := watching(backend.Request{Grace: Never})
		endless("a", false, Never)
		endless("b", true, Never)
	})
}

// TestWatcher: a watch begins again after a look that failed, without a rule, and if it was not
// kept. What a paused look saw is as old as the look's beginning. A look gets what the last saw.
func TestWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(backend.Request{Clock: clock.Runtime{}})
		silent := Rule{Lease: lease}
		for name, disturb := range map[string]func(){
			"a look that fails": func() {
				failed := errors.New("no answer")
				if _, err := w.Look("x", func(Seen) (Seen, error) { return Seen{}, failed }); err != failed {
					t.Errorf("Look returns %v, not the error of see", err)
				}
			},
			"no rule": func() {
				if o := look(t, w, "a"); o.Due != Never || len(o.By) > 0 {
					t.Errorf("without a rule it may be broken in %v, want Never", o.Due)
				}
			},
			"not kept": func() { w.Keep(func(name string) bool { return name != "x" }) },
		} {
			look(t, w, "a", silent)
			time.Sleep(2 * lease)
			disturb()
			if got := look(t, w, "a", silent).Due; got != 101*time.Second {
				t.Errorf("after %s it may be broken in %v, want 101s", name, got)
			}
			w.Keep(func(string) bool { return false })
		}

		late, _ := w.Look("x", func(Seen) (Seen, error) {
			time.Sleep(time.Hour)
			return Seen{Sign: "a", Rules: []Rule{silent}}, nil
		})
		if want := time.Hour + 101*time.Second; late.Due != want {
			t.Errorf("after a first look of an hour it may be broken in %v, want %v", late.Due, want)
		}
		slow, _ := w.Look("x", func(last Seen) (Seen, error) {
			if last.Sign != "a" {
				t.Errorf("the second look got %+v as last, want sign a", last)
			}
			time.Sleep(time.Hour)
			return last, nil
		})
		if slow.Due != 101*time.Second {
			t.Errorf("after a second look of an hour it may be broken in %v, want 101s", slow.Due)
		}

		o := look(t, w, "b", Rule{}, silent, Rule{Dead: true, Grace: grace})
		if want := []time.Duration{Never, 101 * time.Second, grace}; !slices.Equal(o.By, want) || o.Due != grace {
			t.Errorf("by several rules it may be broken in %v, want 10s; by each alone in %v, want %v", o.Due, o.By, want)
		}
	})
}

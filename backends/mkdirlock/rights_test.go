//go:build unix

package mkdirlock

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/watch"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// TestMayMakeButNotRemove: that a user may make directories but not remove them is found out with
// few requests, before there is a lock that nobody could release. One directory is left, and the
// error names it.
func TestMayMakeButNotRemove(t *testing.T) {
	for about, h := range map[string]habits{
		"removes nothing":                      {keepsAll: true},
		"removes and renames nothing":          {keepsAll: true, keepsNames: true},
		"removes nothing, missing is empty":    {keepsAll: true, missingIsEmpty: true},
		"removes nothing, empty is refused":    {keepsAll: true, emptyIsRefused: true},
		"removes nothing, never overwrites":    {keepsAll: true, noOverwrite: true},
		"removes nothing, and renames nothing": {keepsAll: true, keepsNames: true, emptyIsRefused: true},
	} {
		for _, k := range everyKind {
			for _, mode := range modes(k) {
				t.Run(name(about, " ", k, " ", mode), func(t *testing.T) {
					inBubbleWith(t, h, func(t *testing.T, m *memory) { mustNotBegin(t, m, k, mode) })
				})
			}
		}
	}
}

func mustNotBegin(t *testing.T, m *memory, k kindOfLock, mode string) {
	t.Helper()
	var count meter
	a := newHost("here", count.on(m), k).want(t, mode)
	var err error
	spent := count.of(func() {
		if _, err = a.Try(t.Context()); err != nil {
			_ = a.Withdraw(t.Context())
		}
	})
	mustFail(t, err, protocol.CannotCreate, "locksmith doctor")
	if spent > 6 {
		t.Errorf("a try that may not remove took %d commands, want 6 at most", spent)
	}
	left := m.All()
	if k.style == DirStyle {
		left = left[1:] // the directory that the lock is in
	}
	if len(left) != 1 || !strings.Contains(fmt.Sprint(err), left[0]) {
		t.Errorf("a try that may not remove left %q, and told %v; want one name, which the error has", left, err)
	}
}

// A drawer keeps a memory's text.
type drawer struct{ text string }

func (s *drawer) Load() (string, error) { return s.text, nil }

func (s *drawer) Save(text string) error {
	s.text = text
	return nil
}

// TestRefusedTriesLeaveOne: where nothing can be removed, only the first of many tries leaves a
// directory. If that can be removed later, or is gone, tries go on as elsewhere.
func TestRefusedTriesLeaveOne(t *testing.T) {
	for about, allow := range map[string]func(*testing.T, *memory, string){
		"may be removed now": func(_ *testing.T, m *memory, _ string) { m.keepsAll = false },
		"was removed": func(t *testing.T, m *memory, left string) {
			m.keepsAll = false
			mustWork(t, m.Rmdir(t.Context(), left))
		},
	} {
		for _, k := range everyKind {
			t.Run(name(about, " ", k), func(t *testing.T) {
				inBubbleWith(t, habits{keepsAll: true}, func(t *testing.T, m *memory) {
					var kept drawer
					try := func() (backend.Hold, error) {
						h := newHost("here", m, k)
						r := h.Request("exclusive")
						seen := watch.NewMemory("here", &kept, func(err error) { t.Error(err) })
						r.Memory = seen
						a := h.ask(t, r)
						hold, err := a.Try(t.Context())
						if err != nil {
							mustWork(t, a.Withdraw(t.Context()))
						}
						seen.Save()
						return hold, err
					}
					var first []string
					for n := range 4 {
						_, err := try()
						mustFail(t, err, protocol.CannotCreate, "locksmith doctor")
						left := m.All()
						if n == 0 {
							first = left
						}
						if !slices.Equal(left, first) || !strings.Contains(err.Error(), left[len(left)-1]) {
							t.Errorf("after %d tries there is %q, told: %v; want what the first one left", n+1, left, err)
						}
					}
					allow(t, m, first[len(first)-1])
					hold, err := try()
					mustWork(t, err)
					mustWork(t, hold.Release(t.Context()))
					mustBeTidy(t, m, k)
				})
			})
		}
	}
}

// TestRemovalIsTriedOnce: to find out whether we may remove costs two requests, and not at every
// try.
func TestRemovalIsTriedOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		var rmdirs int
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "rmdir" {
				rmdirs++
			}
			return o.Do()
		}), k)
		mustRelease(t, here.take(t, "exclusive"))
		h := newHost("there", m, k).take(t, "exclusive")
		a := here.want(t, "exclusive")
		rmdirs = 0
		for range 5 {
			mustBeHeldBy(t, a, h)
			mustWork(t, a.Wait(t.Context()))
		}
		if rmdirs != 1 {
			t.Errorf("%d removals in 5 tries, want 1", rmdirs)
		}
		mustWithdraw(t, a)
		mustRelease(t, h)
		mustBeTidy(t, m, k)
	})
}

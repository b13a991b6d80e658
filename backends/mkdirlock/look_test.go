//go:build unix

package mkdirlock

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/test/faulty"
)

// beforeCalls makes do before each call, with the number of that call.
func beforeCalls(dir dirs.Dir, do func(call int)) dirs.Dir {
	calls := 0
	return hooked(dir, func(o faulty.Call) error {
		calls++
		do(calls)
		return o.Do()
	})
}

// handsOver has a lock handed from holder to holder during a look: before each of its calls in turn,
// at once or with a call in between. The second has waited all the while. The look must name one of
// the two as the holder.
func handsOver(t *testing.T, h habits, k kindOfLock, look func(*testing.T, dirs.Dir) []backend.Report) {
	t.Helper()
	for gap := range 2 {
		handsOverSlowly(t, h, k, gap, look)
	}
}

func handsOverSlowly(t *testing.T, h habits, k kindOfLock, gap int, look func(*testing.T, dirs.Dir) []backend.Report) {
	t.Helper()
	for call, over := 1, false; !over; call++ {
		inBubbleWith(t, h, func(t *testing.T, m *memory) {
			first := newHost("first", m, k).take(t, "exclusive")
			next := newHost("next", m, k).want(t, "exclusive")
			mustBeHeldBy(t, next, first)
			mustWork(t, next.Wait(t.Context()))
			var second *hold
			reports := look(t, beforeCalls(m, func(n int) {
				if n == call {
					mustRelease(t, first)
				}
				if n == call+gap {
					second = mustAcquire(t, next)
				}
			}))
			if over = second == nil; over {
				return // the look has no such call
			}
			seen := func(h backend.Holder) bool { return h.ID == first.ID() || h.ID == second.ID() }
			if len(reports) != 1 || !slices.ContainsFunc(reports[0].Holders, seen) {
				t.Errorf("handed over before call %d of the look, in %d steps, which says %s", call, gap+1, inWords(reports))
			}
			mustRelease(t, second)
		})
	}
}

func inWords(all []backend.Report) string {
	if len(all) == 0 {
		return "that there is no lock"
	}
	return fmt.Sprintf("holders %+v, waiters %+v", all[0].Holders, all[0].Waiters)
}

// eachServer runs a test for each kind of lock on servers of each habit of listing.
func eachServer(t *testing.T, test func(*testing.T, habits, kindOfLock)) {
	t.Helper()
	for _, h := range []habits{{}, {missingIsEmpty: true}, {emptyIsRefused: true}} {
		for _, k := range everyKind {
			t.Run(fmt.Sprintf("%v %+v", k, h), func(t *testing.T) { test(t, h, k) })
		}
	}
}

// TestInspectBesideHandover: a look takes several calls, and a lock that goes from hand to hand
// between them is held.
func TestInspectBesideHandover(t *testing.T) {
	eachServer(t, func(t *testing.T, h habits, k kindOfLock) {
		handsOver(t, h, k, func(t *testing.T, dir dirs.Dir) []backend.Report {
			r, err := newHost("reader", dir, k).lock().Read(t.Context())
			mustWork(t, err)
			return []backend.Report{r}
		})
	})
}

// TestInspectBesideSharers: a lock is shared by another one each time when a look asks who an entry's
// holder is. It is not free.
func TestInspectBesideSharers(t *testing.T) {
	inBubbleWith(t, habits{}, func(t *testing.T, m *memory) {
		holder := newHost("sharer", m, dirStyle).take(t, "shared")
		turns := 0
		reader := hooked(m, func(o faulty.Call) error {
			if strings.Contains(o.Name, "/"+labels.LockName+"/") && turns < 3 {
				turns++
				next := newHost(fmt.Sprint("sharer", turns), m, dirStyle).take(t, "shared")
				mustRelease(t, holder)
				holder = next
			}
			return o.Do()
		})
		r, err := newHost("reader", reader, dirStyle).lock().Read(t.Context())
		mustWork(t, err)
		if turns < 3 || len(r.Holders) != 1 || r.Holders[0].ID != holder.ID() {
			t.Errorf("after %d turns: %s, want the holder %s", turns, inWords([]backend.Report{r}), holder.ID())
		}
		mustRelease(t, holder)
	})
}

// A memoryTree is a memory as a walk sees it.
type memoryTree struct{ dirs.Dir }

func (m memoryTree) List(ctx context.Context, path string) (all []finder.Entry, err error) {
	names, err := m.Dir.List(ctx, "."+path)
	if dirs.Refused(err) {
		return nil, fs.ErrNotExist
	}
	for _, name := range names {
		all = append(all, finder.Entry{Name: name, Type: finder.Subdirectory})
	}
	return all, err
}

// TestListBesideHandover: the same of a walk, which lists the place first.
func TestListBesideHandover(t *testing.T) {
	eachServer(t, func(t *testing.T, h habits, k kindOfLock) {
		handsOver(t, h, k, func(t *testing.T, dir dirs.Dir) (all []backend.Report) {
			place := newHost("reader", dir, k).lock()
			place.Name, place.Address = ".", "mkdir:/"
			k := lister{place, dir}
			w := finder.Walk{Tree: memoryTree{dir}, Kinds: []finder.Kind{{Place: "mkdir:", Beside: k.beside, Directory: k.directory, Part: isPart, Look: k.look}}}
			w.Tell = func(l backend.Listed) {
				mustWork(t, l.Err)
				all = append(all, l.Report)
			}
			mustWork(t, w.Run(t.Context()))
			return all
		})
	})
}

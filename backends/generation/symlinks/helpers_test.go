//go:build unix

package symlinks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
)

const lease = backendtest.Lease

const (
	fairTime     = fairPauses * headPause
	maxRankPause = 3 * headPause
)

type bubbleTime = backendtest.BubbleTime

var (
	mustFail      = backendtest.MustFail
	mustBeHeld    = backendtest.MustBeHeld
	mustStillHold = backendtest.MustStillHold
	mustBeLost    = backendtest.MustBeLost
	mustRelease   = backendtest.MustRelease
	mustWithdraw  = backendtest.MustWithdraw
	keep          = backendtest.Keep
	between       = backendtest.Between
)

// A host is a machine whose helpers use the lock directory.
type host struct {
	backendtest.Host
	dir  Dir
	skew time.Duration // of its wall clock
}

// inBubble runs a test on fake time, with one empty lock directory.
func inBubble(t *testing.T, test func(*testing.T, *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &memory{}) })
}

func newHost(name string, dir Dir) *host {
	return &host{Host: backendtest.NewHost(name), dir: dir}
}

func (h *host) lock() *Lock {
	return &Lock{
		Dir: h.dir, Address: "nfs:/lock", Env: owner.Env{NewID: owner.NewID, Judge: h.Judge,
			Today: func() time.Time { return time.Now().Add(h.skew) }},
	}
}

func (h *host) ask(t *testing.T, r backend.Request) *attempt {
	t.Helper()
	a, err := h.lock().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

func (h *host) want(t *testing.T, mode string) *attempt {
	t.Helper()
	return h.ask(t, h.Request(mode))
}

func (h *host) take(t *testing.T, mode string) *hold {
	t.Helper()
	return mustHold(t, h.want(t, mode))
}

// queue returns an attempt that has a place in the queue.
func (h *host) queue(t *testing.T, mode string) *attempt {
	t.Helper()
	a := h.want(t, mode)
	mustBeHeld(t, a)
	if err := a.enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func mustHold(t *testing.T, a *attempt) *hold {
	t.Helper()
	return backendtest.MustHold(t, a).(*hold)
}

// acquire alternates Try and Wait as the helper does.
func acquire(ctx context.Context, a backend.Attempt) (*hold, error) {
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return nil, err
	}
	return h.(*hold), nil
}

func mustAcquire(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*lease) // of fake time
	defer cancel()
	h, err := acquire(ctx, a)
	if err != nil {
		t.Fatalf("Try and Wait by turns do not take the lock within 100 leases (%v): %v", 100*lease, err)
	}
	return h
}

// reservations lists the names in Reservations of these kinds; "xst": all but records.
func reservations(t *testing.T, dir Dir, kinds string) []string {
	t.Helper()
	names, err := dir.List(t.Context(), Reservations)
	if err != nil && !absent(err) {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.ContainsAny(name[:1], kinds)
	})
}

// untidy is what a free lock should not have: reservations, records, and what is no generation.
func untidy(t *testing.T, dir Dir) []string {
	t.Helper()
	names, err := dir.List(t.Context(), Generations)
	if err != nil && !absent(err) {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, lockPrefix) })
	return append(names, reservations(t, dir, "xsti")...)
}

func mustBeTidy(t *testing.T, dir Dir) {
	t.Helper()
	if left := untidy(t, dir); len(left) > 0 {
		t.Errorf("a free lock leaves %q", left)
	}
}

// put makes the reservation and the record of a waiter that does not exist.
func put(t *testing.T, m *memory, k kind, h *host, pid int, place ticket) ticket {
	t.Helper()
	place.id = owner.NewID()
	if place.lease == 0 {
		place.lease = lease
	}
	r := h.Request("exclusive").Owner
	r.ID, r.Helper.PID, r.Acquired = place.id, pid, time.Now()
	text, err := r.Format()
	if err != nil {
		t.Fatal(err)
	}
	e := entry{k, place}
	for _, err := range []error{m.Prepare(t.Context()), m.Symlink(t.Context(), strings.TrimSuffix(text, "\n"), place.record()), m.Mkdir(t.Context(), e.path())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if k != exclusive {
		if err := m.Mkdir(t.Context(), e.own()); err != nil {
			t.Fatal(err)
		}
	}
	return place
}

func modes() []string { return []string{"exclusive", "shared"} }

func name(parts ...any) string { return strings.ReplaceAll(fmt.Sprint(parts...), " ", "_") }

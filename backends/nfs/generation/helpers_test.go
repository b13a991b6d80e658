package generation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

const lease = time.Minute

// bubbleTime is the clock of a synctest bubble since its beginning. That of
// clock.Runtime would be negative: it begins with this process, which is later.
type bubbleTime struct{ clock.Runtime }

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubbleTime) Now() time.Duration { return time.Since(bubbleStart) }

// A host is where helpers run that use the lock directory. Only there it is
// known which of them are dead.
type host struct {
	name string
	dir  Dir
	dead map[int]bool  // by pid
	skew time.Duration // of its wall clock
}

// inBubble runs a test on fake time, with one empty lock directory.
func inBubble(t *testing.T, test func(*testing.T, *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &memory{}) })
}

func newHost(name string, dir Dir) *host {
	return &host{name: name, dir: dir, dead: map[int]bool{}}
}

func (h *host) lock() *Lock {
	return &Lock{
		Dir: h.dir, Address: "nfs:/lock", NewID: owner.NewID, Judge: h.judge,
		Today: func() time.Time { return time.Now().Add(h.skew) },
	}
}

func (h *host) judge(r owner.Record) owner.Verdict {
	switch {
	case r.Place.Host != h.name:
		return owner.Unknown
	case h.dead[r.Helper.PID]:
		return owner.Dead
	}
	return owner.Alive
}

func (h *host) request(mode string) backend.Request {
	return backend.Request{
		Owner: owner.Record{Place: owner.Place{Host: h.name}, Helper: process.Process{PID: 1}, User: "tester", Mode: mode, Lease: lease},
		Clock: bubbleTime{},
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
	return h.ask(t, h.request(mode))
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
	if err := a.enqueue(); err != nil {
		t.Fatal(err)
	}
	return a
}

func mustHold(t *testing.T, a *attempt) *hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hold)
}

func mustBeHeld(t *testing.T, a *attempt) *backend.HeldError {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held
}

func mustStillHold(t *testing.T, h *hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the holder was hit: %v", err)
	}
}

func mustRelease(t *testing.T, h *hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustWithdraw(t *testing.T, a *attempt) {
	t.Helper()
	if err := a.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	if err == nil || backend.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want code %s and %q", err, code, says)
	}
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
		t.Fatal(err)
	}
	return h
}

// keep beats until the test ends, as a holder does.
func keep(t *testing.T, h *hold) {
	t.Helper()
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			_ = h.Heartbeat(ctx)
			clock.Sleep(ctx, bubbleTime{}, lease/4)
		}
	}()
}

// reservations lists what is in Reservations but for records, if kinds is "xst".
func reservations(t *testing.T, dir Dir, kinds string) []string {
	t.Helper()
	names, err := dir.List(Reservations)
	if err != nil && !absent(err) {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.ContainsAny(name[:1], kinds)
	})
}

func mustBeTidy(t *testing.T, dir Dir) {
	t.Helper()
	if left := reservations(t, dir, "xsti"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	names, err := dir.List(Generations)
	if err != nil && !absent(err) {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, lockPrefix) {
			t.Errorf("left behind: %q", name)
		}
	}
}

// put makes the reservation and the record of a waiter that is not there.
func put(t *testing.T, m *memory, k kind, h *host, pid int, place ticket) ticket {
	t.Helper()
	place.id = owner.NewID()
	if place.lease == 0 {
		place.lease = lease
	}
	r := h.request("exclusive").Owner
	r.ID, r.Helper.PID, r.Acquired = place.id, pid, time.Now()
	text, err := r.Format()
	if err != nil {
		t.Fatal(err)
	}
	e := entry{k, place}
	for _, err := range []error{m.Prepare(), m.Symlink(strings.TrimSuffix(text, "\n"), place.record()), m.Mkdir(e.path())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if k != exclusive {
		if err := m.Mkdir(e.own()); err != nil {
			t.Fatal(err)
		}
	}
	return place
}

func between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s took %v, want %v to %v", what, got, low, high)
	}
}

func modes() []string { return []string{"exclusive", "shared"} }

func name(parts ...any) string { return strings.ReplaceAll(fmt.Sprint(parts...), " ", "_") }

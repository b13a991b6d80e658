//go:build unix

package mkdirlock

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/faulty"
)

// A meter counts the calls to a server, in commands of FTP.
type meter struct{ commands atomic.Int64 }

func (c *meter) on(dir dirs.Dir) dirs.Dir {
	return hooked(dir, func(o faulty.Call) error {
		c.commands.Add(cost(o))
		return o.Do()
	})
}

// of returns how many commands an action takes.
func (c *meter) of(action func()) int64 {
	before := c.commands.Load()
	action()
	return c.commands.Load() - before
}

func mustCost(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s costs %d commands, want %d", what, got, want)
	}
}

// TestCosts: on a long line every command costs a round trip. Two commands of each first try find
// out whether we may remove what we make.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		kind                                kindOfLock
		mode                                string
		acquire, beat, release, look, retry int64
	}{
		{plain, "exclusive", 8, 2, 3, 5, 1},
		{dirStyle, "exclusive", 7, 2, 2, 6, 2},
		{numbered, "exclusive", 13, 2, 2, 6, 2},
		{dirStyle, "shared", 8, 2, 2, 0, 0},
		{numbered, "shared", 14, 2, 2, 0, 0},
	} {
		t.Run(name(c.kind, " ", c.mode), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				mustRelease(t, newHost("here", m, c.kind).take(t, "exclusive"))
				mustRelease(t, newHost("here", m, c.kind).take(t, "exclusive"))
				var count meter
				here := newHost("here", count.on(m), c.kind)
				var h *hold
				mustCost(t, "acquire", count.of(func() { h = here.take(t, c.mode) }), c.acquire)
				mustCost(t, "heartbeat", count.of(func() { mustStillHold(t, h) }), c.beat)
				if c.mode == "exclusive" {
					a := here.want(t, c.mode)
					mustCost(t, "the first try of a waiter", count.of(func() { mustBeHeld(t, a) }), 4+c.look)
					mustCost(t, "another", count.of(func() { mustBeHeld(t, a) }), c.retry)
					mustWithdraw(t, a)
				}
				mustCost(t, "release", count.of(func() { mustRelease(t, h) }), c.release)
			})
		})
	}
}

// TestLoadOfManyWaiters: the load on a server from many waiters, each on a host of its own, after
// the first minute. A hundred waiters make less than five times the load of twenty. What grows
// with their number is their heartbeats, of two commands each; in dir style there are more of
// them.
func TestLoadOfManyWaiters(t *testing.T) {
	for _, x := range []struct {
		kind    kindOfLock
		waiters int
		most    float64
	}{{plain, 20, 5}, {dirStyle, 20, 12.5}, {plain, 100, 11}, {dirStyle, 100, 30}} {
		t.Run(name(x.kind, " ", x.waiters), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				kind, most := x.kind, x.most
				keep(t, newHost("holder", m, kind).take(t, "exclusive"))
				var count meter
				for i := range x.waiters {
					startWaiter(t, newHost(fmt.Sprint("h", i), count.on(m), kind))
				}
				time.Sleep(lease)
				rate := float64(count.of(func() { time.Sleep(5 * time.Minute) })) / 300
				if t.Logf("%.1f commands a second", rate); rate > most {
					t.Errorf("the waiters' load is too high, want at most %.1f commands a second", most)
				}
			})
		})
	}
}

func startWaiter(t *testing.T, h *host) {
	a := h.want(t, "exclusive")
	ctx := t.Context()
	go func() {
		if h, err := backend.Acquire(ctx, a); err == nil {
			t.Errorf("a waiter got the lock of a living holder: %+v", h)
		}
	}()
	time.Sleep(100 * time.Millisecond)
}

// TestShortHoldIsFollowedClosely: a waiter that has just come asks more often.
func TestShortHoldIsFollowedClosely(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		h := newHost("elsewhere", m, k).take(t, "exclusive")
		time.AfterFunc(2*time.Second, func() { _ = h.Release(context.Background()) })
		start := time.Now()
		mustAcquire(t, newHost("here", m, k).want(t, "exclusive"))
		between(t, "waiting for a hold of 2s", time.Since(start), 2*time.Second, 2250*time.Millisecond)
	})
}

// TestPauseEnds: however long a waiter has waited, it gets the lock soon after a release.
func TestPauseEnds(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		h := newHost("elsewhere", m, k).take(t, "exclusive")
		keepFor(t, h, 10*lease+time.Millisecond)
		start := time.Now()
		mustAcquire(t, newHost("here", m, k).want(t, "exclusive"))
		between(t, "waiting", time.Since(start), 10*lease, 10*lease+slow.Max)
	})
}

// TestBackoff: a waiter that is told how often to ask asks so often, and no oftener.
func TestBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("here", m, plain).take(t, "exclusive")
		r := newHost("there", m, plain).Request("exclusive")
		second := backoff.Range{Min: time.Second, Max: time.Second}
		r.Polls = &backoff.Config{Poll: second, Quick: 2, Slow: backoff.Range{Min: 3 * time.Second, Max: 5 * time.Second}}
		a := newHost("there", m, plain).ask(t, r)
		mustBeHeld(t, a)
		var pauses []time.Duration
		for range 6 {
			pauses = append(pauses, a.pause())
		}
		if want := []time.Duration{1, 1, 3, 1, 1, 5}; !slices.EqualFunc(pauses, want, func(got, want time.Duration) bool { return got == want*time.Second }) {
			t.Errorf("the pauses are %v, want 1, 1, 3, 1, 1 and 5 s", pauses)
		}
		mustWork(t, a.Withdraw(t.Context()))
		mustRelease(t, h)
	})
}

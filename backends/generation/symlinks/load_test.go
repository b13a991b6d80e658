//go:build unix

package symlinks

import (
	"context"
	"fmt"
	"locksmith/test/faulty"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A meter counts the calls to the server.
type meter struct{ calls atomic.Int64 }

func (c *meter) on(dir Dir) Dir {
	return hooked(dir, func(o faulty.Call) error {
		c.calls.Add(1)
		return o.Do()
	})
}

// perSecond returns the rate of calls over so much fake time.
func (c *meter) perSecond(d time.Duration) float64 {
	before := c.calls.Load()
	time.Sleep(d)
	return float64(c.calls.Load()-before) / d.Seconds()
}

// TestLoadOfManyWaiters: the load on the server from twenty waiters, each on a host of its own,
// after the first seconds.
func TestLoadOfManyWaiters(t *testing.T) {
	const waiters, most = 20, 25
	for _, c := range []struct {
		holder, first, others string // modes
	}{
		{"exclusive", "exclusive", "exclusive"},
		{"exclusive", "shared", "shared"},
		{"exclusive", "exclusive", "shared"},
		{"shared", "exclusive", "exclusive"},
		{"shared", "exclusive", "shared"},
	} {
		t.Run(c.holder+" "+c.first+" "+c.others, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				holder := newHost("holder", m)
				r := holder.Request(c.holder)
				r.Owner.Lease = 100 * lease
				mustHold(t, holder.ask(t, r))
				var count meter
				for i := range waiters {
					mode := c.others
					if i == 0 {
						mode = c.first
					}
					startWaiter(t, newHost(fmt.Sprint("h", i), count.on(m)), mode)
				}
				time.Sleep(10 * time.Second)
				// Half a lease only: after a lease, waiters that share join, whoever waits.
				if rate := count.perSecond(lease / 2); rate > most {
					t.Errorf("%.1f calls a second, want at most %d", rate, most)
				} else {
					t.Logf("%.1f calls a second", rate)
				}
			})
		})
	}
}

// TestLoadHardlyGrows: ten times as many waiters ask the server for three times as much at most.
// None of them looks so seldom that its place is taken for a dead waiter's.
func TestLoadHardlyGrows(t *testing.T) {
	load := func(waiters int) (rate float64) {
		inBubble(t, func(t *testing.T, m *memory) {
			holder := newHost("holder", m)
			r := holder.Request("exclusive")
			r.Owner.Lease = 100 * lease
			mustHold(t, holder.ask(t, r))
			var count meter
			for i := range waiters {
				startWaiter(t, newHost(fmt.Sprint("h", i), count.on(m)), "exclusive")
			}
			time.Sleep(10 * time.Second)
			places := reservations(t, m, "x")
			rate = count.perSecond(3 * lease)
			if now := reservations(t, m, "x"); !slices.Equal(places, now) || len(places) != 1+waiters {
				t.Errorf("%d places, and then others:\n%q\n%q", len(places), places, now)
			}
		})
		return rate
	}
	few, many := load(20), load(200)
	if many > 3*few {
		t.Errorf("%.1f calls a second by 20 waiters, and %.1f by 200", few, many)
	} else {
		t.Logf("%.1f calls a second by 20 waiters, and %.1f by 200", few, many)
	}
}

func startWaiter(t *testing.T, h *host, mode string) {
	a := h.want(t, mode)
	ctx := t.Context()
	go func() {
		if h, err := acquire(ctx, a); err == nil {
			t.Errorf("a waiter got the lock of a living holder: %+v", h)
		}
	}()
	time.Sleep(100 * time.Millisecond)
}

// TestHeadIsQuick: however long the first in the queue has waited, it notices within its longest
// pause that the lock is free.
func TestHeadIsQuick(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				h := newHost("elsewhere", m).take(t, "exclusive")
				keep(t, h)
				var released time.Time
				time.AfterFunc(3*lease+time.Millisecond, func() {
					released = time.Now()
					_ = h.Release(context.Background())
				})
				mustAcquire(t, newHost("here", m).want(t, mode))
				between(t, "noticing", time.Since(released), 0, headPause)
			})
		})
	}
}

// TestShortHoldIsFollowedClosely: a waiter that has just come asks more often.
func TestShortHoldIsFollowedClosely(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("elsewhere", m).take(t, "exclusive")
		time.AfterFunc(40*time.Millisecond, func() { _ = h.Release(context.Background()) })
		start := time.Now()
		mustAcquire(t, newHost("here", m).want(t, "exclusive"))
		between(t, "waiting for a hold of 40ms", time.Since(start), 40*time.Millisecond, 50*time.Millisecond)
	})
}

// TestUncontendedIsCheap: how many calls it takes to acquire a free lock and to release it.
func TestUncontendedIsCheap(t *testing.T) {
	for mode, most := range map[string]int64{"exclusive": 12, "shared": 21} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				here := newHost("here", m)
				mustRelease(t, here.take(t, mode)) // makes the directories
				var count meter
				here.dir = count.on(m)
				mustRelease(t, here.take(t, mode))
				if n := count.calls.Load(); n > most {
					t.Errorf("%d calls, want at most %d", n, most)
				} else {
					t.Logf("%d calls", n)
				}
			})
		})
	}
}

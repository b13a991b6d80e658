//go:build unix

package symlinks

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/test/faulty"
)

// slack is how late a waiter may be, because it pauses and holds back.
const slack = 2 * time.Second

const leaseAndDrift = lease + lease/100

// TestLease: a holder elsewhere falls silent. The waiter counts its lease by its own clock,
// whatever other clocks say.
func TestLease(t *testing.T) {
	for _, c := range []struct {
		name          string
		server, skew  time.Duration
		holder, taker string
	}{
		{name: "exclusive", holder: "exclusive", taker: "exclusive"},
		{name: "shared after exclusive", holder: "exclusive", taker: "shared"},
		{name: "exclusive after shared", holder: "shared", taker: "exclusive"},
		{name: "server an hour ahead", server: time.Hour, holder: "exclusive", taker: "exclusive"},
		{name: "server an hour behind", server: -time.Hour, holder: "exclusive", taker: "exclusive"},
		{name: "holder an hour ahead", skew: time.Hour, holder: "exclusive", taker: "exclusive"},
		{name: "holder an hour behind", skew: -time.Hour, holder: "exclusive", taker: "exclusive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				m.Skew = c.server
				elsewhere := newHost("elsewhere", m)
				elsewhere.skew = c.skew
				old := elsewhere.take(t, c.holder)
				a := newHost("here", m).want(t, c.taker)
				start := time.Now()
				h := mustAcquire(t, a)
				between(t, "breaking", time.Since(start), leaseAndDrift, leaseAndDrift+slack)
				mustBeLost(t, old)
				mustStillHold(t, h)
			})
		})
	}
}

func TestHeartbeatStartsTheLeaseAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		old := newHost("elsewhere", m).take(t, "exclusive")
		time.AfterFunc(lease/2, func() { _ = old.Heartbeat(context.Background()) })
		start := time.Now()
		mustAcquire(t, newHost("here", m).want(t, "exclusive"))
		between(t, "breaking", time.Since(start), lease/2+leaseAndDrift, lease/2+leaseAndDrift+slack)
	})
}

// TestLateHeartbeatBetweenTwoLooks: a waiter must not break a holder whose heartbeat came before
// the waiter's last look.
func TestLateHeartbeatBetweenTwoLooks(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		// 1. A waiter watches for almost a lease.
		old := newHost("elsewhere", m).take(t, "exclusive")
		a := newHost("here", m).queue(t, "exclusive")
		time.Sleep(leaseAndDrift - time.Millisecond)
		// 2. The holder beats.
		mustStillHold(t, old)
		// 3. The lease is over, and the waiter looks.
		time.Sleep(time.Millisecond)
		mustBeHeld(t, a)
		mustStillHold(t, old)
	})
}

// TestUnclearLookStartsTheLeaseAgain: while the server is away, nobody knows
// whether the holder beats.
func TestUnclearLookStartsTheLeaseAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		old := newHost("elsewhere", m).take(t, "exclusive")
		var away atomic.Bool
		a := newHost("here", hooked(m, func(o faulty.Call) error {
			if away.Load() && o.Op == "look" && o.Name == old.Mine.path() {
				return unix.ETIMEDOUT
			}
			return o.Do()
		})).want(t, "exclusive")
		time.AfterFunc(lease/2, func() { away.Store(true) })
		time.AfterFunc(lease/2+10*time.Second, func() { away.Store(false) })
		start := time.Now()
		mustAcquire(t, a)
		between(t, "breaking", time.Since(start), lease/2+leaseAndDrift, lease/2+10*time.Second+leaseAndDrift+slack)
	})
}

func TestStrictNeverGoesByLease(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		old := newHost("elsewhere", m).take(t, "exclusive")
		here := newHost("here", m)
		r := here.Request("exclusive")
		r.Strict = true
		ctx, cancel := clock.WithTimeout(t.Context(), bubbleTime{}, 5*lease)
		defer cancel()
		if h, err := acquire(ctx, here.ask(t, r)); !errors.Is(err, context.Canceled) {
			t.Errorf("a strict waiter got %v, %v; want that it waits to the end", h, err)
		}
		mustStillHold(t, old)
	})
}

func TestRespite(t *testing.T) {
	const grace = 10 * time.Second
	for _, here := range []string{"elsewhere", "the same host"} {
		t.Run(here, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				low := time.Duration(grace)
				deceased := newHost("the same host", m)
				old := deceased.take(t, "exclusive")
				deceased.Dead[1] = true
				taker := deceased
				if here == "elsewhere" {
					taker, low = newHost(here, m), leaseAndDrift+grace
				}
				r := taker.Request("exclusive")
				r.Owner.Helper.PID, r.Grace = 2, grace
				start := time.Now()
				mustAcquire(t, taker.ask(t, r))
				between(t, "breaking", time.Since(start), low, low+slack)
				mustBeLost(t, old)
			})
		})
	}
}

// TestProof: dead holders of our own host are broken at once, and no others.
func TestProof(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		living := newHost("elsewhere", m).take(t, "shared")
		r := here.Request("shared")
		r.Owner.Helper.PID = 7
		deceased := mustHold(t, here.ask(t, r))
		here.Dead[7] = true
		start := time.Now()
		a := here.want(t, "exclusive")
		if held := mustBeHeld(t, a); held.Holder.Record == nil || held.Holder.Record.ID != living.ID() {
			t.Errorf("the lock is held by %+v, want the living holder", held.Holder)
		}
		mustBeLost(t, deceased)
		mustRelease(t, living)
		mustHold(t, a)
		between(t, "breaking", time.Since(start), 0, 0)
	})
}

// TestWaiterBeats: a waiter keeps its place in the queue alive for as long as it waits.
func TestWaiterBeats(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				keep(t, newHost("elsewhere", m).take(t, "exclusive"))
				last, longest := time.Now(), time.Duration(0)
				a := newHost("here", hooked(m, func(o faulty.Call) error {
					if o.Op == "touch" {
						longest, last = max(longest, time.Since(last)), time.Now()
					}
					return o.Do()
				})).queue(t, mode)
				place := a.Mine.ticket
				ctx, cancel := clock.WithTimeout(t.Context(), bubbleTime{}, 5*lease)
				defer cancel()
				if h, err := acquire(ctx, a); !errors.Is(err, context.Canceled) {
					t.Errorf("a waiter behind a living holder got %v, %v; want that it waits to the end", h, err)
				}
				if a.Mine == nil || a.Mine.ticket != place {
					t.Errorf("the place %v was given up for %+v", place, a.Mine)
				}
				if longest = max(longest, time.Since(last)); longest > lease/2 {
					t.Errorf("the waiter gave no sign of life for %v", longest)
				}
				mustWithdraw(t, a)
			})
		})
	}
}

// TestWaiterSleepsForALease: while a waiter was suspended, somebody may have decided to break it.
// So it comes back with a new ticket, in its old place.
func TestWaiterSleepsForALease(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				first := newHost("elsewhere", m).take(t, "exclusive")
				a := newHost("here", m).queue(t, mode)
				old := a.Mine.ticket
				time.Sleep(lease)
				mustRelease(t, first)
				h := mustAcquire(t, a)
				now := h.Mine.ticket
				if now.id == old.id || now.since != old.since || now.at != old.at {
					t.Errorf("the waiter's ticket went from %v to %v, want a new id in the old place", old, now)
				}
				mustRelease(t, h)
				mustBeTidy(t, m)
			})
		})
	}
}

// TestSilentBeforeFirstHeartbeat: a locker has done everything but the first heartbeat, and is
// paused for a lease. Then it must not rely on its old ticket.
func TestSilentBeforeFirstHeartbeat(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				paused := ""
				here := newHost("here", hooked(m, func(o faulty.Call) error {
					if o.Op == "touch" && paused == "" {
						paused = o.Name
						time.Sleep(lease)
					}
					return o.Do()
				}))
				h := here.take(t, mode)
				if h.Mine.path() == paused {
					t.Error("a locker that was paused for a lease holds by its old ticket")
				}
				if h.Token() != 2 {
					t.Errorf("the locker that was paused has token %d, want 2", h.Token())
				}
				mustRelease(t, h)
				mustBeTidy(t, m)
			})
		})
	}
}

// TestServerAwayWhileWaiting: the waiter goes on waiting.
func TestServerAwayWhileWaiting(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		first := newHost("elsewhere", m).take(t, "exclusive")
		var away atomic.Bool
		a := newHost("here", hooked(m, func(o faulty.Call) error {
			if away.Load() {
				return unix.ETIMEDOUT
			}
			return o.Do()
		})).queue(t, "exclusive")
		time.AfterFunc(time.Second, func() { away.Store(true) })
		time.AfterFunc(5*lease, func() { away.Store(false) })
		time.AfterFunc(6*lease, func() { _ = first.Release(context.Background()) })
		keep(t, first)
		start := time.Now()
		h := mustAcquire(t, a)
		between(t, "waiting", time.Since(start), 6*lease, 6*lease+slack)
		mustRelease(t, h)
		mustBeTidy(t, m)
	})
}

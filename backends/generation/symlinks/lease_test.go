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

// TestLease: the waiter counts a silent holder's lease by its own clock, whatever that of the holder's
// host says.
func TestLease(t *testing.T) {
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		inBubble(t, func(t *testing.T, m *memory) {
			elsewhere := newHost("elsewhere", m)
			elsewhere.skew = skew
			elsewhere.take(t, "exclusive")
			start := time.Now()
			mustAcquire(t, newHost("here", m).want(t, "exclusive"))
			between(t, "breaking", time.Since(start), leaseAndDrift, leaseAndDrift+slack)
		})
	}
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

//go:build unix

package symlinks

import (
	"fmt"
	"locksmith/test/faulty"
	"testing"
	"time"
)

// queueOf makes a queue of n waiters behind a holder, each on a host of its own.
func queueOf(t *testing.T, m *memory, n int, dir Dir) (*hold, []*attempt) {
	t.Helper()
	h := newHost("holder", m).take(t, "exclusive")
	var all []*attempt
	for i := range n {
		all = append(all, newHost(fmt.Sprint("h", i), dir).queue(t, "exclusive"))
		time.Sleep(time.Millisecond)
	}
	return h, all
}

// TestTurnCostsTheSame: a turn costs the same however many wait. A newcomer lists the queue. A
// waiter that has its turn does not, except each listEvery-th.
func TestTurnCostsTheSame(t *testing.T) {
	const turns = 2 * listEvery
	cost := func(waiters int) (calls int64, listings int) {
		inBubble(t, func(t *testing.T, m *memory) {
			var count meter
			dir := hooked(count.on(m), func(o faulty.Call) error {
				if o.Op == "list" && o.Name == Reservations {
					listings++
				}
				return o.Do()
			})
			h, all := queueOf(t, m, waiters, dir)
			if listings != waiters {
				t.Errorf("%d listings by %d who came", listings, waiters)
			}
			listings = 0
			count.calls.Store(0)
			for _, a := range all[:turns] {
				mustRelease(t, h)
				h = mustHold(t, a)
			}
			calls = count.calls.Load()
		})
		return calls, listings
	}
	few, listed := cost(2 * turns)
	many, listedByMany := cost(10 * turns)
	if few != many || listed != turns/listEvery || listedByMany != listed {
		t.Errorf("%d turns take %d calls, %d of them listings, in a queue of %d, and %d, %d of them, in one of %d",
			turns, few, listed, 2*turns, many, listedByMany, 10*turns)
	} else {
		t.Logf("%.1f calls a turn", float64(few)/turns)
	}
}

// TestLostTurnComesAgain: a waiter that was overtaken because it was slow has its turn a few
// turns later. Those between do not wait for it each time.
func TestLostTurnComesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h, all := queueOf(t, m, 2*listEvery, m)
		slow, others := all[0], all[1:]
		mustRelease(t, h)
		start := time.Now()
		h = mustAcquire(t, others[0])
		between(t, "overtaking", time.Since(start), fairTime, fairTime+slack)
		for i, next := range others[1:] {
			mustRelease(t, h)
			if h.Number%listEvery != 0 {
				h = mustHold(t, next)
				continue
			}
			if held := mustBeHeld(t, next); !held.Queued || held.Ahead != 1 {
				t.Errorf("number %d is held back by %+v", i, held)
			}
			mustRelease(t, mustHold(t, slow))
			return
		}
		t.Error("a waiter that was overtaken never had its turn again")
	})
}

// TestDeadPredecessorIsSkipped: the waiter behind a dead one skips it, and nobody else looks at
// the dead one.
func TestDeadPredecessorIsSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		holder := newHost("holder", m).take(t, "exclusive")
		first := here.queue(t, "exclusive")
		time.Sleep(time.Millisecond)
		dead := put(t, m, exclusive, here, 7, ticket{since: 1, at: time.Now().UnixMicro()})
		time.Sleep(time.Millisecond)
		behind := here.queue(t, "exclusive")
		time.Sleep(time.Millisecond)
		last := here.queue(t, "exclusive")
		here.Dead[7] = true
		mustBeHeld(t, last)
		if _, err := m.Look(t.Context(), entry{exclusive, dead}.path()); err != nil {
			t.Errorf("somebody removed it who is not behind it: %v", err)
		}
		if held := mustBeHeld(t, behind); held.Ahead != 1 {
			t.Errorf("%d waiters are ahead of the one behind a dead one, want 1", held.Ahead)
		}
		mustRelease(t, holder)
		start := time.Now()
		for _, a := range []*attempt{first, behind, last} {
			mustRelease(t, mustHold(t, a))
		}
		between(t, "three turns", time.Since(start), 0, 0)
		mustBeTidy(t, m)
	})
}

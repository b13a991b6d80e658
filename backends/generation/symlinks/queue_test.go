//go:build unix

package symlinks

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/faulty"
)

// TestFreeLockIsLeftToTheHead: a free lock is left to the head of the queue for a fairTime, and
// no longer.
func TestFreeLockIsLeftToTheHead(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		holder := newHost("a", m).take(t, "exclusive")
		head := newHost("b", m).queue(t, "exclusive")
		time.Sleep(time.Second)
		second := newHost("c", m).queue(t, "exclusive")
		mustRelease(t, holder)
		start := time.Now()
		held := mustBeHeld(t, second)
		if r := held.Holder.Record; !held.Queued || r == nil || r.Place.Host != "b" || held.Ahead != 1 {
			t.Errorf("a newcomer is held back by %+v, want by the head of the queue, host b", held)
		}
		h := mustAcquire(t, second)
		between(t, "overtaking", time.Since(start), fairTime, fairTime+slack)
		// The head has lost its turn, but not its place.
		if held := mustBeHeld(t, head); held.Ahead != 0 {
			t.Errorf("the head is behind %d", held.Ahead)
		}
		mustRelease(t, h)
		mustRelease(t, mustHold(t, head))
		mustBeTidy(t, m)
	})
}

// TestSilentHeadIsNotWaitedFor: a head without heartbeats does not want the lock.
func TestSilentHeadIsNotWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		holder := newHost("a", m).take(t, "exclusive")
		newHost("b", m).queue(t, "exclusive")
		time.Sleep(lease)
		a := newHost("c", m).queue(t, "exclusive")
		mustRelease(t, holder)
		start := time.Now()
		mustHold(t, a)
		between(t, "taking", time.Since(start), 0, 0)
	})
}

// TestCrashedHeadIsOvertaken: the first in the queue died on another host, and the lock becomes
// free. The second must not wait for the first one's lease.
func TestCrashedHeadIsOvertaken(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				h := newHost("a", m).take(t, "exclusive")
				newHost("b", m).queue(t, "exclusive") // never heard of again
				time.Sleep(time.Second)
				second := newHost("c", m).queue(t, mode)
				time.AfterFunc(time.Second, func() { _ = h.Release(context.Background()) })
				start := time.Now()
				mustAcquire(t, second)
				between(t, "waiting", time.Since(start), time.Second, time.Second+maxRankPause+fairTime+slack)
			})
		})
	}
}

// TestNewcomerDoesNotOvertake: a newcomer comes when the lock has just become free and the waiter
// has not noticed yet.
func TestNewcomerDoesNotOvertake(t *testing.T) {
	for _, holder := range modes() {
		for _, newcomer := range modes() {
			t.Run(holder+" then "+newcomer, func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					h := newHost("a", m).take(t, holder)
					head := newHost("b", m).queue(t, "exclusive")
					time.Sleep(time.Second)
					mustRelease(t, h)
					a := newHost("c", m).want(t, newcomer)
					if held := mustBeHeld(t, a); !held.Queued || held.Ahead != 1 {
						t.Errorf("a newcomer is held back by %+v, want by the one waiter", held)
					}
					mustRelease(t, mustHold(t, head))
					mustRelease(t, mustAcquire(t, a))
				})
			})
		}
	}
}

// TestFirstComeFirstServed: waiters of two hosts, whose clocks are an hour apart, are served as
// they came. Within one generation each host's clock orders only its own waiters.
func TestFirstComeFirstServed(t *testing.T) {
	for _, skew := range []time.Duration{0, time.Hour, -time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				hosts := []*host{newHost("a", m), newHost("b", m)}
				hosts[1].skew = skew
				h := hosts[0].take(t, "exclusive")
				var served, want []string
				for i := range 6 {
					// Each waiter comes in a generation of its own.
					next := hosts[i%2].queue(t, "exclusive")
					want = append(want, fmt.Sprint(i))
					mustRelease(t, h)
					h = mustHold(t, next)
					served = append(served, fmt.Sprint(i))
				}
				if fmt.Sprint(served) != fmt.Sprint(want) {
					t.Errorf("waiters were served in the order %v, want %v", served, want)
				}
			})
		})
	}
}

// TestOlderGenerationGoesFirst: a waiter whose host's clock is an hour behind is not served
// before one that has waited for longer.
func TestOlderGenerationGoesFirst(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				early, late := newHost("early", m), newHost("late", m)
				late.skew = skew
				first := newHost("a", m).take(t, "exclusive")
				middle := newHost("a", m).queue(t, "exclusive")
				time.Sleep(time.Second)
				waiter := early.queue(t, "exclusive")
				mustRelease(t, first)
				second := mustHold(t, middle)
				if held := mustBeHeld(t, late.queue(t, "exclusive")); held.Ahead != 1 {
					t.Errorf("the late one is behind %d", held.Ahead)
				}
				if held := mustBeHeld(t, waiter); held.Ahead != 0 {
					t.Errorf("the early one is behind %d", held.Ahead)
				}
				mustRelease(t, second)
				mustHold(t, waiter)
			})
		})
	}
}

// TestLineIsServedInOrder: each waiter waits by itself, and nobody interferes. They are served in
// the order of the queue.
func TestLineIsServedInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		const waiters = 5
		h := newHost("a", m).take(t, "exclusive")
		served := make(chan int, waiters)
		var all sync.WaitGroup
		for i := range waiters {
			a := newHost(fmt.Sprint("h", i), m).queue(t, "exclusive")
			all.Go(func() {
				h, err := acquire(t.Context(), a)
				if err != nil {
					t.Error(err)
					return
				}
				served <- i
				time.Sleep(100 * time.Millisecond)
				if err := h.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		mustRelease(t, h)
		for want := range waiters {
			if got := <-served; got != want {
				t.Errorf("number %d was served in place %d", got, want)
			}
		}
		all.Wait()
		mustBeTidy(t, m)
	})
}

// TestWriterPreference: a newcomer that would share the lock leaves it to a waiter that wants it
// alone, but not for longer than the newcomer's own lease.
func TestWriterPreference(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		first := newHost("a", m).take(t, "shared")
		keep(t, first)
		writer := newHost("b", m).queue(t, "exclusive")
		go func() { _ = writer.Wait(t.Context()) }() // it lives
		time.Sleep(time.Second)
		a := newHost("c", m).want(t, "shared")
		start := time.Now()
		held := mustBeHeld(t, a)
		if r := held.Holder.Record; held.Queued || !held.Yielding || r == nil || r.Place.Host != "b" {
			t.Errorf("a newcomer that would share is held back by %+v, want by the writer on host b", held)
		}
		h := mustAcquire(t, a)
		between(t, "holding back", time.Since(start), lease, lease+slack)
		if h.Token() != first.Token() {
			t.Errorf("who shares has token %d beside %d", h.Token(), first.Token())
		}
	})
}

// TestNoPreferenceForADeadWriter: nobody waits for a dead or silent writer.
func TestNoPreferenceForADeadWriter(t *testing.T) {
	for _, silence := range []time.Duration{0, lease} { // dead by proof, or silent
		t.Run(silence.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				here := newHost("here", m)
				first := here.take(t, "shared")
				writer := newHost("elsewhere", m)
				if silence == 0 {
					writer = here
				}
				put(t, m, exclusive, writer, 7, ticket{since: 1})
				here.Dead[7] = true
				time.Sleep(silence)
				mustStillHold(t, first)
				start := time.Now()
				h := mustAcquire(t, here.want(t, "shared"))
				// A newcomer has no heartbeat of its own to compare with yet.
				between(t, "joining", time.Since(start), 0, lease+slack)
				mustRelease(t, h)
				mustRelease(t, first)
			})
		})
	}
}

// TestStrictBehindACrashedWaiter: a waiter that breaks nobody by lease must not wait for ever for
// a dead one in the queue.
func TestStrictBehindACrashedWaiter(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("a", m).take(t, "exclusive")
		newHost("b", m).queue(t, "exclusive") // never heard of again
		time.Sleep(time.Second)
		here := newHost("c", m)
		r := here.Request("exclusive")
		r.Strict = true
		second := here.ask(t, r)
		mustBeHeld(t, second)
		time.AfterFunc(time.Second, func() { _ = h.Release(context.Background()) })
		start := time.Now()
		mustAcquire(t, second)
		between(t, "waiting", time.Since(start), time.Second, leaseAndDrift+slack)
	})
}

// TestKilledWhileJoining: a dead process is a member already, and still has a place in the queue.
// Both have one ticket and one record.
func TestKilledWhileJoining(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				here := newHost("here", m)
				first := here.take(t, "shared")
				dead := put(t, m, staging, here, 7, ticket{})
				if err := m.Mkdir(t.Context(), first.Mine.in.member(dead)); err != nil {
					t.Fatal(err)
				}
				here.Dead[7] = true
				waiter := here.queue(t, "exclusive") // removes the dead member
				time.Sleep(time.Second)              // one that comes in the same instant may be ordered first
				a := here.want(t, mode)
				mustBeHeld(t, a)
				mustRelease(t, first)
				start := time.Now()
				mustRelease(t, mustAcquire(t, waiter))
				mustRelease(t, mustAcquire(t, a))
				between(t, "two turns", time.Since(start), 0, maxRankPause+slack)
				faulty.Settle(t, mustAcquire(t, newHost("there", m).want(t, "exclusive")))
				mustBeTidy(t, m)
			})
		})
	}
}

// TestPlaceIsKeptAfterALostRace: a waiter that has to begin again with a new ticket is still
// before those that came later. Otherwise two may leave a free lock to each other.
func TestPlaceIsKeptAfterALostRace(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		first := newHost("a", m).take(t, "exclusive")
		early := newHost("b", m).queue(t, "shared")
		time.Sleep(time.Second)
		late := newHost("c", m).queue(t, "exclusive")
		time.Sleep(time.Second)
		latest := newHost("d", m).queue(t, "exclusive")
		// Others shared the lock meanwhile, and are gone.
		mustRelease(t, first)
		gone := entry{shared, ticket{since: 1, lease: lease, id: someID}}
		if err := m.Symlink(t.Context(), gone.link(), lockName(first.Number+1)); err != nil {
			t.Fatal(err)
		}
		if err := early.Attempt.Withdraw(t.Context()); err != nil { // as after losing a race
			t.Fatal(err)
		}
		want := early.place.at
		done := make(chan *hold, 3)
		start := time.Now()
		for _, a := range []*attempt{early, late, latest} {
			go func() {
				h, err := acquire(t.Context(), a)
				if err != nil {
					t.Error(err)
					return
				}
				done <- h
			}()
			time.Sleep(time.Millisecond)
		}
		one := <-done
		if place := one.Mine.ticket; place.at != want {
			t.Error("a later one was served first")
		}
		between(t, "the first turn", time.Since(start), 0, fairTime)
		mustRelease(t, one)
		mustRelease(t, <-done)
		mustRelease(t, <-done)
		between(t, "all turns", time.Since(start), 0, maxRankPause)
	})
}

// TestHolderIsJudgedByAll: the first in the queue may break nobody by lease, or only after a
// grace. Those behind it are not bound by that.
func TestHolderIsJudgedByAll(t *testing.T) {
	for name, change := range map[string]func(*backend.Request){
		"strict": func(r *backend.Request) { r.Strict = true },
		"grace":  func(r *backend.Request) { r.Grace = 10 * lease },
	} {
		for _, mode := range modes() {
			t.Run(name+" "+mode, func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					newHost("a", m).take(t, mode) // never heard of again
					r := newHost("b", m).Request("exclusive")
					change(&r)
					startWaiting(t, newHost("b", m).ask(t, r))
					second := newHost("c", m).want(t, "exclusive")
					start := time.Now()
					mustAcquire(t, second)
					between(t, "waiting", time.Since(start), lease, leaseAndDrift+maxRankPause+slack)
				})
			})
		}
	}
}

// TestProofIsSeenByAll: the holder dies on our host, while the first in the queue is on another
// host.
func TestProofIsSeenByAll(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		here.take(t, "exclusive")
		startWaiting(t, newHost("elsewhere", m).want(t, "exclusive"))
		second := here.queue(t, "exclusive")
		here.Dead[here.Request("exclusive").Owner.Helper.PID] = true
		start := time.Now()
		mustAcquire(t, second)
		between(t, "waiting", time.Since(start), 0, lease/2)
	})
}

// startWaiting lets somebody wait, and take the lock for a moment.
func startWaiting(t *testing.T, a *attempt) {
	t.Helper()
	ctx := t.Context()
	go func() {
		if h, err := acquire(ctx, a); err == nil {
			_ = h.Release(context.Background())
		}
	}()
	time.Sleep(time.Second)
}

// TestOneTry: a single try waits neither for the queue of a free lock, nor for a dead writer that
// wanted a shared lock alone.
func TestOneTry(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		put(t, m, exclusive, newHost("a", m), 7, ticket{}) // never heard of again
		once := newHost("b", m).Request("exclusive")
		once.Timeout = 0
		h := mustHold(t, newHost("b", m).ask(t, once))
		mustRelease(t, h)
		time.Sleep(2 * lease)
		newHost("c", m).take(t, "shared")
		once.Owner.Mode = "shared"
		mustHold(t, newHost("b", m).ask(t, once))
	})
}

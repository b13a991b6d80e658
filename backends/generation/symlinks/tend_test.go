//go:build unix

package symlinks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// crowd leaves n dead reservations behind, half of them of another host.
func crowd(t *testing.T, m *memory, here *host, n int) {
	t.Helper()
	elsewhere := newHost("elsewhere", m)
	for i := range n {
		h, k := here, exclusive
		if i%2 == 0 {
			h = elsewhere
		}
		if i%10 == 3 {
			k = staging
		}
		put(t, m, k, h, 7, ticket{at: int64(i)})
	}
	here.Dead[7] = true
	time.Sleep(lease) // nobody beats
}

// TestCrowd: what ten thousand crashed waiters left does not make the lock expensive, and is
// removed in time.
func TestCrowd(t *testing.T) {
	const leftovers = 10000
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		crowd(t, m, here, leftovers)
		var count meter
		here.dir = count.on(m)
		start := time.Now()
		h := mustAcquire(t, here.want(t, "exclusive"))
		between(t, "taking the lock", time.Since(start), 0, slack)
		// A look at some of those before us, and the removal of the dead among them.
		if n := count.calls.Load(); n > 100 {
			t.Errorf("%d calls to take the lock", n)
		}
		contend(t, m, h)
		tendUntilTidy(t, m, here)
	})
}

// contend hands the lock from one to another, in the presence of a crowd.
func contend(t *testing.T, m *memory, h *hold) {
	t.Helper()
	there := newHost("there", m)
	var count meter
	there.dir = count.on(m)
	a := there.want(t, "shared")
	mustBeHeld(t, a)
	time.AfterFunc(time.Second, func() { _ = h.Release(context.Background()) })
	start := time.Now()
	mustRelease(t, mustAcquire(t, a))
	between(t, "waiting", time.Since(start), time.Second, time.Second+maxRankPause+slack)
	if n := count.calls.Load(); n > 400 {
		t.Errorf("a waiter beside a crowd made %d calls", n)
	}
}

// tendUntilTidy holds the lock for a while.
func tendUntilTidy(t *testing.T, m *memory, here *host) {
	t.Helper()
	h := here.take(t, "exclusive")
	for range 3 {
		mustStillHold(t, h)
		if err := h.Tend(t.Context()); err != nil {
			t.Error(err)
		}
		if here.Dead[7] { // what the dead of this host left goes at once
			for _, e := range reservations(t, m, "x") {
				if s, _ := parseEntry(e); s.ticket.at%2 == 1 && s.ticket.id != h.ID() {
					t.Fatalf("what the dead of this host left stays: %s", e)
				}
			}
		}
		time.Sleep(lease - time.Second)
		mustStillHold(t, h)
		time.Sleep(2 * time.Second)
	}
	mustRelease(t, h)
	mustBeTidy(t, m)
}

// TestTendSparesTheLiving: tending removes nothing of holders and waiters that beat.
func TestTendSparesTheLiving(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		there := newHost("there", m)
		hs := []*hold{newHost("here", m).take(t, "shared"), there.take(t, "shared")}
		waiters := []*attempt{there.queue(t, "exclusive"), newHost("elsewhere", m).queue(t, "exclusive")}
		for _, a := range waiters {
			go func() { _ = a.Wait(t.Context()) }()
		}
		everything := reservations(t, m, "xsti")
		for range 12 {
			for _, h := range hs {
				mustStillHold(t, h)
			}
			if err := hs[0].Tend(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(lease / 4)
		}
		if now := reservations(t, m, "xsti"); !slices.Equal(now, everything) {
			t.Errorf("Tend removed something of the living: there was %q, now %q", everything, now)
		}
	})
}

// TestTendSparesRecordsItCannotPlace: a shared directory cannot be listed at the moment, so
// nobody knows which records belong to its members. They are left alone.
func TestTendSparesRecordsItCannotPlace(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		hs := []*hold{newHost("here", m).take(t, "shared"), newHost("there", m).take(t, "shared")}
		hs[0].Mine.lock.Dir = hooked(m, func(o faulty.Call) error {
			if o.Op == "list" && strings.HasPrefix(o.Name, hs[0].Mine.in.path()) {
				return unix.EIO
			}
			return o.Do()
		})
		for range 6 {
			for _, h := range hs {
				mustStillHold(t, h)
			}
			_ = hs[0].Tend(t.Context())
			time.Sleep(lease / 4)
		}
		if _, err := m.Readlink(t.Context(), hs[1].Mine.ticket.record()); err != nil {
			t.Errorf("the record of a living holder: %v", err)
		}
	})
}

// TestTendGoesOnWhereItStopped: the next call goes on with what this one had no time for.
func TestTendGoesOnWhereItStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		h := here.take(t, "exclusive")
		for i := range 20 {
			put(t, m, exclusive, here, 7, ticket{since: 1, at: int64(i)})
		}
		here.Dead[7] = true
		for range 25 {
			left := len(reservations(t, m, "xi"))
			ctx, cancel := context.WithCancel(t.Context())
			h.Mine.lock.Dir = hooked(m, func(o faulty.Call) error {
				if o.Op == "rmdir" || o.Op == "unlink" {
					cancel()
				}
				return o.Do()
			})
			if err := h.Tend(ctx); err != nil {
				t.Error(err)
			}
			// A reservation and its record go together.
			if now := len(reservations(t, m, "xi")); left > 2 && now >= left || now < left-2 {
				t.Fatalf("one call of Tend: %d were left, now %d; want one or two less", left, now)
			}
		}
		if left := reservations(t, m, "xi"); len(left) != 2 {
			t.Errorf("in the end Tend leaves %q, want the holder's two", left)
		}
		mustStillHold(t, h)
	})
}

// TestTendTwiceAtOnce: two that tend at the same time do each other no harm.
func TestTendTwiceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		hs := []*hold{here.take(t, "shared"), here.take(t, "shared")}
		put(t, m, exclusive, here, 7, ticket{})
		put(t, m, staging, here, 7, ticket{})
		here.Dead[7] = true
		nested := false
		hs[0].Mine.lock.Dir = hooked(m, func(o faulty.Call) error {
			if !nested && o.Op == "rmdir" {
				nested = true
				if err := hs[1].Tend(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return o.Do()
		})
		if err := hs[0].Tend(t.Context()); err != nil {
			t.Error(err)
		}
		if left := reservations(t, m, "xt"); !nested || len(left) > 0 {
			t.Errorf("two that tend at once leave %q", left)
		}
		for _, h := range hs {
			mustStillHold(t, h)
			mustRelease(t, h)
		}
		mustBeTidy(t, m)
	})
}

// TestOldGenerationsAreCollected: all old generations but a few are removed, whoever used them.
func TestOldGenerationsAreCollected(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		for i := range 50 {
			mustRelease(t, newHost(fmt.Sprint(i%3), m).take(t, modes()[i%2]))
		}
		names, err := m.List(t.Context(), Generations)
		if err != nil || len(names) > generation.Kept+2 {
			t.Errorf("the generations that stay are %q, %v", names, err)
		}
		if !slices.Contains(names, "lock.50") {
			t.Errorf("the newest is not in %q", names)
		}
	})
}

// TestBreak: a break hits the one with the id, and nobody else.
func TestBreak(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		there := newHost("there", m)
		hs := []*hold{there.take(t, "shared"), there.take(t, "shared")}
		waiter := there.queue(t, "exclusive")
		place := waiter.Mine.ticket
		l := newHost("here", m).lock()
		for _, id := range []string{hs[1].ID(), place.id} {
			if err := backendtest.BreakID(t.Context(), l, id); err != nil {
				t.Errorf("Break of %s: %v", id, err)
			}
			mustFail(t, backendtest.BreakID(t.Context(), l, id), "gone", "no longer there")
		}
		for _, id := range []string{"", owner.NewID(), "../" + hs[0].ID(), hs[0].ID()[1:], "\x1b[2J"} {
			mustFail(t, backendtest.BreakID(t.Context(), l, id), "gone", "no longer there")
		}
		mustStillHold(t, hs[0])
		mustBeLost(t, hs[1])
		// The waiter comes back with a new ticket, in its old place.
		mustRelease(t, hs[0])
		h := mustHold(t, waiter)
		if now := h.Mine.ticket; now.id == place.id || now.at != place.at || now.since != place.since {
			t.Errorf("the waiter that was broken went from %v to %v, want a new id in the old place", place, now)
		}
		mustRelease(t, h)
		mustBeTidy(t, m)
	})
}

// TestInspectWhileEverythingChanges: everything changes before each call, and the inspection
// never fails.
func TestInspectWhileEverythingChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", m)
		h := here.take(t, "exclusive")
		turns := 0
		l := newHost("there", hooked(m, func(o faulty.Call) error {
			if turns++; turns < 30 {
				mustRelease(t, h)
				h = here.take(t, modes()[turns%2])
			}
			return o.Do()
		})).lock()
		for turns < 40 {
			r, err := l.Read(t.Context())
			if err != nil && backend.CodeOf(err) != "internal" {
				t.Errorf("Read while all changes: %+v, %v", r, err)
			}
			if turns >= 35 && (len(r.Holders) != 1 || r.Holders[0].Record == nil || r.Holders[0].Record.ID != h.ID()) {
				t.Errorf("Read once all stays as it is: %+v, %v; want the one holder", r, err)
			}
		}
	})
}

// TestKeep: what a held lock needs is set to now after the first heartbeat and then hourly, so that
// a cleaner by age leaves it. A short hold pays nothing for that.
func TestKeep(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(t *testing.T, m *memory) {
				here := newHost("here", m)
				mustRelease(t, here.take(t, mode))
				h := here.take(t, mode)
				want := []string{lockName(h.Number), lockName(h.Number - 1), h.Mine.ticket.record(), Generations, Reservations}
				if mode == "shared" {
					want = append(want, h.Mine.in.path())
				}
				slices.Sort(want)
				for _, s := range []struct {
					after time.Duration
					times int
				}{{0, 1}, {time.Hour - 1, 1}, {1, 2}, {time.Minute, 2}} {
					time.Sleep(s.after)
					if err := h.Tend(t.Context()); err != nil {
						t.Fatal(err)
					}
					slices.Sort(m.kept)
					if all := slices.Repeat(want, s.times); !slices.Equal(m.kept, slices.Sorted(slices.Values(all))) {
						t.Errorf("kept are %q, want %q %d times", m.kept, want, s.times)
					}
				}
				mustRelease(t, h)
			})
		})
	}
}

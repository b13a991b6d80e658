package set

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/member"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest/membertest"
)

// wish begins an attempt at a set of locks.
func wish(t testing.TB, locks ...member.Lock) *attempt {
	t.Helper()
	s, err := New(locks)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt(membertest.Request())
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

func mustBeRefused(t *testing.T, a backend.Attempt, by *membertest.Fake) {
	t.Helper()
	_, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) || held.Lock != by.Name {
		t.Fatalf("got %v, want a refusal by %s", err, by.Name)
	}
}

func TestAllOrNone(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	other := f[1].Alone(t)
	a := wish(t, f[0].Lock(), f[1].Lock(), f[2].Lock())
	mustBeRefused(t, a, f[1])
	membertest.MustBeFree(t, f[0], f[2])
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := membertest.MustTake(t, a)
	want := f[0].Holder() + "," + f[1].Holder() + "," + f[2].Holder()
	if h.ID() != want {
		t.Errorf("id %s, want %s", h.ID(), want)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	membertest.MustBeFree(t, f...)
}

func TestWithdrawLeavesNothing(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	broken := errors.New("broken")
	f[2].Fail = func(op string) error {
		if op == "try" {
			return broken
		}
		return nil
	}
	a := wish(t, f[0].Lock(), f[1].Lock(), f[2].Lock())
	if _, err := a.Try(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if err := a.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
	membertest.MustBeFree(t, f...)
}

// The order of trying is the same for all sets. The order of the answers is the one given.
func TestOrders(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	var tried []string
	for _, one := range f {
		one.Fail = func(op string) error {
			if op == "try" {
				tried = append(tried, one.Name)
			}
			return nil
		}
	}
	h := membertest.MustTake(t, wish(t, f[2].Lock(), f[0].Lock(), f[1].Lock(), f[2].Lock()))
	if !slices.Equal(tried, []string{"a", "b", "c"}) {
		t.Errorf("the locks were tried in the order %v, want a, b, c and each once, however they were given", tried)
	}
	want := []string{f[2].Holder(), f[0].Holder(), f[1].Holder(), f[2].Holder()}
	if h.ID() != strings.Join(want, ",") {
		t.Errorf("the ids of the set are %s, want %v, in the order given", h.ID(), want)
	}
	if n := len(h.(backend.SeveralHold).Tokens()); n != 4 {
		t.Errorf("%d tokens, want 4", n)
	}
}

func TestOneLockTwice(t *testing.T) {
	f := membertest.New("a")
	t.Run("other options", func(t *testing.T) {
		other := f.Lock()
		other.Address += "?create=no"
		if _, err := wish(t, f.Lock(), other).Try(t.Context()); backend.CodeOf(err) != protocol.Usage {
			t.Errorf("a set that names a lock twice with other options: Try returns %v, want code %s", err, protocol.Usage)
		}
	})
	t.Run("by names nobody can compare", func(t *testing.T) {
		a := wish(t, f.Lock(), f.As("somewhere else"))
		_, err := a.Try(t.Context())
		if backend.CodeOf(err) != protocol.Usage || !strings.Contains(err.Error(), "same lock") {
			t.Errorf("a set that names a lock twice by other names: Try returns %v, want code %s and that it is the same lock", err, protocol.Usage)
		}
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("exclusive and shared", func(t *testing.T) {
		shared := f.Lock()
		shared.Ask = func(r backend.Request) backend.Request { r.Owner.Mode = "shared"; return r }
		for _, locks := range [][]member.Lock{{shared, f.Lock()}, {f.Lock(), shared}} {
			a := wish(t, locks...)
			h := membertest.MustTake(t, a)
			if shares(a.members[0].Lock, membertest.Request()) {
				t.Error("it is only shared")
			}
			if err := h.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	membertest.MustBeFree(t, f)
}

func TestTooMany(t *testing.T) {
	locks := make([]member.Lock, member.Max+1)
	if _, err := New(locks); backend.CodeOf(err) != protocol.Usage {
		t.Errorf("a set of %d locks is made with the error %v, want code %s: more than %d are too many", len(locks), err, protocol.Usage, member.Max)
	}
}

// The loss of one lock is the loss of all. The locks that are not lost are given back, whatever
// goes wrong on the way.
func TestLossOfOne(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	h := membertest.MustTake(t, wish(t, f[0].Lock(), f[1].Lock(), f[2].Lock()))
	f[1].Remove()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("one lock of the set is gone: Heartbeat returns %v, want ErrGone", err)
	}
	failed := false
	f[2].Fail = func(op string) error {
		if op == "release" && !failed {
			failed = true
			return errors.New("not now")
		}
		return nil
	}
	if err := h.Release(t.Context()); err == nil || errors.Is(err, backend.ErrGone) {
		t.Errorf("one lock is gone, and another cannot be released now: the first Release returns %v, want an error that is not ErrGone, so that it is tried again", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("the second Release, which gives back the rest, returns %v, want ErrGone", err)
	}
	if n, err := h.(backend.SeveralHold).Note(t.Context()); err != nil || n == nil || n.Host != "b" {
		t.Errorf("the note is %v, %v, want that of the lock that is gone", n, err)
	}
	membertest.MustBeFree(t, f...)
}

// backedOff is a set of locks a and b whose b was refused, and which has given a back without an
// answer. b becomes free after a while, and is free by now. The requests to release a are executed
// or not, and have no answer until answer is called.
func backedOff(t *testing.T, while time.Duration, executed bool) (a *attempt, f []*membertest.Fake, answer func()) {
	f = membertest.Several("a", "b")
	other := f[1].Alone(t)
	freed := make(chan error)
	go func() {
		time.Sleep(while)
		freed <- other.Release(context.Background())
	}()
	f[0].Fail = func(op string) error {
		if op != "release" {
			return nil
		}
		if executed {
			f[0].Remove()
		}
		return errors.New("no answer")
	}
	a = wish(t, f[0].Lock(), f[1].Lock())
	mustBeRefused(t, a, f[1])
	start := time.Now()
	if err := a.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > membertest.Lease/2 {
		t.Errorf("the release of one lock had no answer, and another lock is held: Wait takes %v, want %v at most, so that the release is tried again", d, membertest.Lease/2)
	}
	if err := <-freed; err != nil {
		t.Fatal(err)
	}
	return a, f, func() { f[0].Fail = nil }
}

// A lock that a set has given back is not the set's any more, even if the answer was lost: somebody
// else may have it by the next Try.
func TestGivenBackWithoutAnswer(t *testing.T) {
	t.Run("executed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, f, answer := backedOff(t, time.Second, true)
			answer()
			f[0].Alone(t)
			if h, err := a.Try(t.Context()); err == nil {
				t.Fatalf("the set gave lock a back, and %s has it now: Try returns the hold of %s, want a refusal", f[0].Holder(), h.ID())
			}
		})
	})
	t.Run("executed at the second request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, f, answer := backedOff(t, membertest.Lease, false)
			first := f[0].Holder()
			answer()
			h := membertest.MustTake(t, a)
			if id := f[0].Holder(); id == first || !strings.Contains(h.ID(), id) {
				t.Errorf("the set gave back its hold %s of lock a, and then took the set anew as %s: lock a is held by %s, want another id, for the first request may be executed yet", first, h.ID(), id)
			}
		})
	})
	t.Run("something stays", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, f, _ := backedOff(t, time.Second, false)
			f[0].Fail = func(op string) error {
				if op == "release" {
					return fmt.Errorf("%w", backend.ErrStays)
				}
				return nil
			}
			if _, err := a.Try(t.Context()); !errors.Is(err, backend.ErrStays) {
				t.Errorf("what is left of lock a, which the set gave back, stays until somebody removes it: Try returns %v, want ErrStays, because the set would wait for itself", err)
			}
		})
	})
	t.Run("without an answer for long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, f, answer := backedOff(t, membertest.Lease, false)
			var held *backend.HeldError
			if _, err := a.Try(t.Context()); !errors.As(err, &held) || held.Obstacle == nil {
				t.Errorf("lock a cannot be released: Try returns %v, want a HeldError that tells of an obstacle", err)
			}
			if id := f[1].Holder(); id != "" {
				t.Errorf("lock a cannot be released: the set keeps lock b meanwhile, as %s", id)
			}
			answer()
			if err := a.Withdraw(t.Context()); err != nil {
				t.Error(err)
			}
			membertest.MustBeFree(t, f...)
		})
	})
}

// A loss is told at once, even if the place of another lock fails or hangs.
func TestLossBesideTrouble(t *testing.T) {
	for name, trouble := range map[string]func(answer <-chan struct{}) error{
		"fails": func(<-chan struct{}) error { return errors.New("not now") },
		"hangs": func(answer <-chan struct{}) error { <-answer; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := make(chan struct{})
				defer close(answer)
				f := membertest.Several("a", "b")
				h := membertest.MustTake(t, wish(t, f[0].Lock(), f[1].Lock()))
				f[0].Remove()
				f[1].Fail = func(string) error { return trouble(answer) }
				start := time.Now()
				if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
					t.Errorf("one lock is gone, and the place of another %s: Heartbeat returns %v, want ErrGone", name, err)
				}
				if d := time.Since(start); d > time.Second {
					t.Errorf("the loss is told after %v, want a second at most", d)
				}
			})
		})
	}
}

// holdingOn makes a set hold on from the first refusal.
func holdingOn(a *attempt) *attempt {
	a.set.policy = Policy{Hold: 10 * membertest.Lease}
	a.holdsOn = true
	return a
}

// A set that waits with locks held keeps them alive, but only as long as it holds on.
func TestInsistence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Alone(t)
		a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
		mustBeRefused(t, a, f[1])
		if f[0].Holder() == "" {
			t.Fatal("a set that holds on gave back its first lock when the second was refused: look at keeps (attempt.go)")
		}
		start := time.Now()
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d < 10*membertest.Lease || d > 10*membertest.Lease+time.Second {
			t.Errorf("the set held on to its first lock for %v, want %v as its policy says: look at keeps and waitHolding (attempt.go)", d, 10*membertest.Lease)
		}
		if f[0].Holder() != "" {
			t.Error("the set still holds a lock after it held on")
		}
		if f[0].Beats < 39 {
			t.Errorf("%d heartbeats of the first lock in ten leases of holding on, want 39 at least", f[0].Beats)
		}
	})
}

// If a set loses one of its locks while it waits for another, it starts over.
func TestLossWhileInsisting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Alone(t)
		a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
		mustBeRefused(t, a, f[1])
		f[0].Remove()
		start := time.Now()
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > membertest.Lease {
			t.Errorf("the set noticed after %v that it had lost a lock, want a lease (%v) at most", d, membertest.Lease)
		}
		mustBeRefused(t, a, f[1])
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		membertest.MustBeFree(t, f[0])
	})
}

// Locks that were taken long ago are proven again before the set counts as held. If one was lost
// meanwhile, the set starts over.
func TestLossBeforeAllAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		other := f[1].Alone(t)
		a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
		mustBeRefused(t, a, f[1])
		time.Sleep(membertest.Lease / 2)
		f[0].Remove()
		if err := other.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		var held *backend.HeldError
		if _, err := a.Try(t.Context()); !errors.As(err, &held) || !errors.Is(err, backend.ErrGone) {
			t.Fatalf("a lock that the set held on to was lost: Try returns %v, want a HeldError because of ErrGone", err)
		}
		h := membertest.MustTake(t, a)
		if c := h.(backend.SeveralHold).Confirmed(); c < membertest.Request().Clock.Now()-membertest.Lease/4 {
			t.Errorf("the set was confirmed %v ago, want a quarter of a lease (%v) at most", membertest.Request().Clock.Now()-c, membertest.Lease/4)
		}
	})
}

// A set leaves the queue of the lock that was refused before the last. If that fails at first, or
// hangs, the set leaves it before it comes for the lock again.
func TestLeavesQueue(t *testing.T) {
	for name, trouble := range map[string]func() error{
		"fails":             func() error { return errors.New("no answer") },
		"hangs, then fails": func() error { time.Sleep(membertest.Lease / 2); return errors.New("no answer") },
		"hangs":             func() error { time.Sleep(membertest.Lease / 2); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := membertest.Several("a", "b")
				other := f[1].Alone(t)
				a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
				mustBeRefused(t, a, f[1])
				if err := a.Wait(t.Context()); err != nil { // until it gives back
					t.Fatal(err)
				}
				another := f[0].Alone(t)
				withdrawals := 0
				f[1].Fail = func(op string) error {
					if op == "withdraw" {
						if withdrawals++; withdrawals == 1 {
							return trouble()
						}
					}
					return nil
				}
				mustBeRefused(t, a, f[0])
				time.Sleep(membertest.Lease)
				for _, h := range []backend.Hold{other, another} {
					if err := h.Release(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				h, err := backend.Acquire(t.Context(), a)
				if err != nil || f[1].Waiters != 0 || withdrawals < 2 && name != "hangs" {
					t.Fatalf("the first withdrawal from lock b %s: Acquire returns %v after %d withdrawals, and %d wait for b, want no error after another withdrawal, if the first failed, and nobody", name, err, withdrawals, f[1].Waiters)
				}
				if err := h.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Who broke a lock that the set then took anew has nothing to do with a later loss.
func TestNoteOfEarlierLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		other := f[1].Alone(t)
		a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
		mustBeRefused(t, a, f[1])
		time.Sleep(membertest.Lease / 2)
		f[0].Remove()
		if err := other.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustBeRefused(t, a, membertest.New("fake:/a"))
		h := membertest.MustTake(t, a)
		f[1].Remove()
		if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
			t.Fatal(err)
		}
		if n, err := h.(backend.SeveralHold).Note(t.Context()); err != nil || n == nil || n.Host != "b" {
			t.Errorf("lock a was broken before the set took it anew, and lock b was broken now: the note is %v, %v, want that of b", n, err)
		}
	})
}

// leapingClock leaps, as the clock of a process does that was stopped. Timers come due later.
type leapingClock struct {
	clock.Runtime
	ahead atomic.Int64 // nanoseconds
}

func (c *leapingClock) Now() time.Duration { return c.Runtime.Now() + time.Duration(c.ahead.Load()) }

// After a lease without a heartbeat a lock of the set is as good as lost, even if a heartbeat
// succeeds then: a breaker may have looked before it, and removes the lock a moment later.
func TestStoppedForLong(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, a *attempt, f []*membertest.Fake, stop func()){
		"between two locks": func(_ *testing.T, _ *attempt, f []*membertest.Fake, stop func()) {
			f[1].Fail = func(string) error {
				f[1].Fail = nil
				stop()
				return nil
			}
		},
		"while it holds on": func(t *testing.T, a *attempt, f []*membertest.Fake, stop func()) {
			other := f[1].Alone(t)
			mustBeRefused(t, holdingOn(a), f[1])
			time.AfterFunc(membertest.Lease/8, stop)
			time.AfterFunc(membertest.Lease/2, func() { _ = other.Release(context.Background()) })
			if err := a.Wait(t.Context()); err != nil || f[0].Beats == 0 {
				t.Fatalf("lock b was released after half a lease: Wait returns %v after %d heartbeats of lock a, want no error and a heartbeat", err, f[0].Beats)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, c := membertest.Several("a", "b"), &leapingClock{}
				a := wish(t, f[0].Lock(), f[1].Lock())
				a.clock = c
				var first string
				begin(t, a, f, func() {
					first = f[0].Holder()
					c.ahead.Add(int64(2 * membertest.Lease))
				})
				h, err := a.Try(t.Context())
				if err == nil {
					if f[0].Holder() == first { // the breaker goes on
						f[0].Remove()
					}
					t.Fatalf("lock a had no heartbeat for two leases, a breaker removes its hold %s, and %s takes it: Try returns a hold of %s, want a refusal", first, f[0].Alone(t).ID(), h.ID())
				}
				var held *backend.HeldError
				if !errors.As(err, &held) || !held.Answered() || f[0].Holder() == first {
					t.Errorf("lock a had no heartbeat for two leases: Try returns %v, and lock a is held by %q, want a HeldError, and not %s", err, f[0].Holder(), first)
				}
				if h := membertest.MustTake(t, a); strings.Contains(h.ID(), first) || !strings.Contains(h.ID(), f[0].Holder()) {
					t.Errorf("lock a, which lapsed as %s, is held by %s, and the set is held as %s", first, f[0].Holder(), h.ID())
				}
			})
		})
	}
}

// If the place of one lock hangs, the set does not keep the other locks from other people. A hold
// that comes too late is given back.
func TestPlaceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		answer := make(chan struct{})
		f[1].Fail = membertest.HangAt("try", answer)
		a := wish(t, f[0].Lock(), f[1].Lock())
		start := time.Now()
		_, err := a.Try(t.Context())
		var held *backend.HeldError
		if !errors.As(err, &held) || held.Obstacle == nil {
			t.Fatalf("the place of the second lock hangs: Try returns %v, want a HeldError that tells of an obstacle", err)
		}
		if d := time.Since(start); d > membertest.Lease/2 {
			t.Errorf("while the place of the second lock hung, the first was held for %v, want half a lease (%v) at most: look at take (attempt.go)", d, membertest.Lease/2)
		}
		membertest.MustBeFree(t, f[0])
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Wait(ctx); err == nil {
			t.Error("Wait returned no error while the place still hung, want that of the context")
		}
		if err := a.Withdraw(ctx); err == nil {
			t.Error("Withdraw returned no error while a call still hung")
		}
		close(answer)
		synctest.Wait()
		membertest.MustBeFree(t, f...)
	})
}

// If something stays of a lock that came too late, the set cannot be held. It would wait for itself.
func TestLateLockLeavesSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		answer := make(chan struct{})
		hang := membertest.HangAt("try", answer)
		f[1].Fail = func(op string) error {
			if op == "release" {
				return fmt.Errorf("%w", backend.ErrStays)
			}
			return hang(op)
		}
		a := wish(t, f[0].Lock(), f[1].Lock())
		mustBeRefused(t, a, membertest.New("fake:/b"))
		close(answer)
		if _, err := backend.Acquire(t.Context(), a); !errors.Is(err, backend.ErrStays) {
			t.Errorf("lock b came too late, and what is left of it stays until somebody removes it: Acquire returns %v, want ErrStays", err)
		}
	})
}

// If even the release of a lock that came too late has no answer, the set releases it again.
// Otherwise the set would wait for itself.
func TestLateLockThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		answer := make(chan struct{})
		hang, releases := membertest.HangAt("try", answer), 0
		f[1].Fail = func(op string) error {
			if op == "release" {
				if releases++; releases == 1 {
					return errors.New("no answer")
				}
			}
			return hang(op)
		}
		a := wish(t, f[0].Lock(), f[1].Lock())
		mustBeRefused(t, a, membertest.New("fake:/b"))
		close(answer)
		synctest.Wait()
		late := f[1].Holder()
		if late == "" {
			t.Fatal("the lock that came too late is free, want its release to fail")
		}
		h := membertest.MustTake(t, a)
		if id := f[1].Holder(); id == late || !strings.Contains(h.ID(), id) {
			t.Errorf("the set has the ids %s, and lock b, which came too late as %s, is held by %s", h.ID(), late, id)
		}
	})
}

// A set that waits for a lock does not delay the release of another that came too late.
func TestLateLockBesideAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		answer, releases := make(chan struct{}), 0
		hang := membertest.HangAt("try", answer)
		f[1].Fail = func(op string) error {
			if op == "release" {
				if releases++; releases == 1 {
					return errors.New("no answer")
				}
			}
			return hang(op)
		}
		a := wish(t, f[0].Lock(), f[1].Lock())
		mustBeRefused(t, a, membertest.New("fake:/b"))
		a.holdsOn = true // so that a is tried first again
		f[0].Alone(t)
		mustBeRefused(t, a, f[0])
		ctx, cancel := context.WithTimeout(t.Context(), membertest.Lease)
		defer cancel()
		close(answer)
		_ = a.Wait(ctx)
		if id := f[1].Holder(); id != "" {
			t.Errorf("lock b came too late, as %s, and the set has waited for a for a lease: b is still held", id)
		}
	})
}

// If what is left of a lock that was given back keeps everybody out, the set says so, and does not
// wait for itself.
func TestGivenBackAndStays(t *testing.T) {
	for name, answers := range map[string][]error{
		"at once":               {backend.ErrStays},
		"at the next try":       {errors.New("no answer"), backend.ErrStays},
		"at the try after that": {errors.New("no answer"), errors.New("no answer"), backend.ErrStays},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := membertest.Several("a", "b")
				f[1].Alone(t)
				f[0].Fail = func(op string) error {
					if op != "release" {
						return nil
					}
					err := answers[0]
					answers = answers[1:]
					return err
				}
				a := wish(t, f[0].Lock(), f[1].Lock())
				_, err := a.Try(t.Context())
				if len(answers) > 0 {
					f[1].Remove()
					_, err = a.Try(t.Context())
				}
				if !errors.Is(err, backend.ErrStays) {
					t.Errorf("what is left of lock a stays: Try returns %v, want ErrStays", err)
				}
			})
		})
	}
	t.Run("until somebody removes it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := membertest.Several("a", "b")
			f[1].Alone(t)
			f[0].Fail = func(op string) error {
				if op == "release" {
					return &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: "release", Err: backend.ErrStays}
				}
				return nil
			}
			a := wish(t, f[0].Lock(), f[1].Lock())
			if _, err := a.Try(t.Context()); !errors.Is(err, backend.ErrStays) {
				t.Errorf("what is left of lock a stays: Try returns %v, want ErrStays", err)
			}
			f[0].Fail = nil
			f[0].Remove()
			f[1].Remove()
			ctx, cancel := context.WithTimeout(t.Context(), 2*membertest.Lease)
			defer cancel()
			if _, err := backend.Acquire(ctx, a); err != nil {
				t.Errorf("both locks are free: Acquire returns %v, want the set", err)
			}
		})
	})
	t.Run("after a wait with locks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := membertest.Several("a", "b")
			f[1].Alone(t)
			f[0].Fail = func(op string) error {
				if op == "release" {
					return backend.ErrStays
				}
				return nil
			}
			a := holdingOn(wish(t, f[0].Lock(), f[1].Lock()))
			mustBeRefused(t, a, f[1])
			if err := a.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			f[1].Remove()
			if _, err := a.Try(t.Context()); !errors.Is(err, backend.ErrStays) {
				t.Errorf("the set gave back lock a after it had held on, and what is left of a stays: Try returns %v, want ErrStays", err)
			}
		})
	})
}

// A release that hangs does not keep the set from its answer.
func TestGivingBackThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Alone(t)
		answer := make(chan struct{})
		f[0].Fail = membertest.HangAt("release", answer)
		a := wish(t, f[0].Lock(), f[1].Lock())
		start := time.Now()
		mustBeRefused(t, a, f[1])
		if d := time.Since(start); d > membertest.Lease/2 {
			t.Errorf("the release of a hangs: Try takes %v, want %v at most", d, membertest.Lease/2)
		}
		close(answer)
		synctest.Wait()
		f[1].Remove()
		h, err := backend.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
		membertest.MustBeFree(t, f...)
	})
}

// A withdrawal whose time is over says so, or leaves no lock behind.
func TestWithdrawAtTheLastMoment(t *testing.T) {
	for range 64 { // because it is random which of two channels counts that are ready
		synctest.Test(t, func(t *testing.T) {
			f := membertest.New("a")
			a := wish(t, f.Lock())
			if err := a.arrange(); err != nil {
				t.Fatal(err)
			}
			m := a.members[0]
			if err := m.Try(t.Context(), a.request); err != nil {
				t.Fatal(err)
			}
			answer := make(chan struct{})
			f.Fail = membertest.HangAt("heartbeat", answer)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := m.Heartbeat(ctx); !errors.Is(err, backend.ErrNoAnswer) {
				t.Fatal(err)
			}
			close(answer)
			synctest.Wait()
			if err := a.Withdraw(ctx); err == nil && f.Holder() != "" {
				t.Errorf("Withdraw returns no error, and the lock is held by %s", f.Holder())
			}
		})
	}
}

// A withdrawal that failed is made again by the next one.
func TestWithdrawAgain(t *testing.T) {
	f := membertest.New("a")
	f.Alone(t)
	f.Fail = func(op string) error {
		if op == "withdraw" {
			f.Fail = nil
			return errors.New("not now")
		}
		return nil
	}
	a := wish(t, f.Lock())
	mustBeRefused(t, a, f)
	if err := a.Withdraw(t.Context()); err == nil {
		t.Error("the first Withdraw returns no error, want that of the lock")
	}
	if err := a.Withdraw(t.Context()); err != nil || f.Waiters != 0 {
		t.Errorf("the second Withdraw returns %v, and %d wait; want no error, and nobody", err, f.Waiters)
	}
}

// The note about a loss is that of the hold that was lost last, not of one that the attempt lost
// while it was made.
func TestNoteOfTheLastLoss(t *testing.T) {
	f := membertest.Several("a", "b")
	other := f[1].Alone(t)
	f[0].Fail = func(op string) error {
		if op == "release" {
			f[0].Fail = nil
			f[0].Remove()
		}
		return nil
	}
	a := wish(t, f[0].Lock(), f[1].Lock())
	mustBeRefused(t, a, f[1])
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := membertest.MustTake(t, a)
	f[1].Remove()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Fatal(err)
	}
	if n, err := h.(backend.SeveralHold).Note(t.Context()); err != nil || n == nil || n.Host != "b" {
		t.Errorf("the set lost b: the note is %v, %v, want that of b", n, err)
	}
}

// The same goes for a lock that hangs later, whatever it is asked.
func TestPlaceThatHangsLater(t *testing.T) {
	for op, begin := range map[string]func(t *testing.T, f []*membertest.Fake) func(){
		"heartbeat between tries": func(t *testing.T, f []*membertest.Fake) func() {
			f[1].Fail = func(op string) error {
				if op == "try" {
					time.Sleep(membertest.Lease / 5) // so that the first needs a heartbeat
				}
				return nil
			}
			a := wish(t, f[0].Lock(), f[1].Lock(), f[2].Lock())
			return func() { _, _ = a.Try(t.Context()) }
		},
		"heartbeat while holding on": func(t *testing.T, f []*membertest.Fake) func() {
			f[2].Alone(t)
			a := holdingOn(wish(t, f[0].Lock(), f[1].Lock(), f[2].Lock()))
			mustBeRefused(t, a, f[2])
			return func() { _ = a.Wait(t.Context()) }
		},
		"withdraw": func(t *testing.T, f []*membertest.Fake) func() {
			f[0].Alone(t)
			a := holdingOn(wish(t, f[0].As("z"), f[1].Lock(), f[2].Lock()))
			mustBeRefused(t, a, f[0])
			_ = a.Wait(t.Context()) // until it gives back
			f[2].Alone(t)
			return func() {
				_, _ = a.Try(t.Context())
				_ = a.Wait(t.Context())
			}
		},
	} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := membertest.Several("a", "b", "c")
				answer := make(chan struct{})
				last := begin(t, f)
				f[0].Fail = func(now string) error {
					if strings.HasPrefix(op, now) {
						<-answer
					}
					return nil
				}
				done := make(chan struct{})
				go func() { last(); close(done) }()
				time.Sleep(11 * membertest.Lease)
				if id := f[1].Holder(); id != "" {
					t.Errorf("b is still held by %s", id)
				}
				close(answer)
				<-done
			})
		})
	}
}

// If a lock hangs only for a while, the set waits for it and goes on.
func TestPlaceThatHangsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Fail = func(op string) error {
			if op == "try" && f[1].Waiters == 0 {
				f[1].Waiters = 1 // so that it hangs once
				time.Sleep(5 * membertest.Lease)
				f[1].Waiters = 0
				f[1].Fail = nil
			}
			return nil
		}
		a := wish(t, f[0].Lock(), f[1].Lock())
		h, err := backend.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		membertest.MustBeFree(t, f...)
	})
}

// A try that waits for a hanging call goes on with the attempt that this call leaves, so that
// nothing of the attempt stays behind.
func TestTryBehindOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.New("a")
		answer := make(chan struct{})
		var other backend.Hold
		f.Fail = func(op string) error {
			switch {
			case op != "try":
			case answer != nil:
				<-answer
				answer = nil
			default: // somebody was quicker
				f.Fail = nil
				other = f.Alone(t)
			}
			return nil
		}
		a := wish(t, f.Lock())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.arrange(); err != nil {
			t.Fatal(err)
		}
		if err := a.members[0].Try(ctx, a.request); err == nil {
			t.Fatal("the try succeeded, though the server does not answer")
		}
		done := make(chan struct{})
		go func() {
			mustBeRefused(t, a, f)
			close(done)
		}()
		synctest.Wait()
		close(answer)
		<-done
		f.Fail = nil
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		if err := other.Release(t.Context()); err != nil {
			t.Error(err)
		}
		membertest.MustBeFree(t, f)
	})
}

// No heartbeat waits for housekeeping that hangs.
func TestHousekeepingThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.New("a")
		h := membertest.MustTake(t, wish(t, f.Lock(), membertest.New("b").Lock()))
		h.(*hold).tenders = []backend.Hold{hanging{}}
		go func() { _ = h.Tend(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), membertest.Lease)
		defer cancel()
		if err := h.Heartbeat(ctx); err != nil {
			t.Error(err)
		}
		if err := h.Release(ctx); err != nil {
			t.Error(err)
		}
	})
}

type hanging struct{ backend.Hold }

func (hanging) Tend(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// TestConfirmed: a set is as old as the lock that was confirmed first.
func TestConfirmed(t *testing.T) {
	confirmed := func(at time.Duration) *member.Member { return &member.Member{Pulse: owner.Pulse{Confirmed: at}} }
	h := &hold{members: []*member.Member{confirmed(3 * time.Second), confirmed(time.Second), confirmed(2 * time.Second)}}
	if got := h.Confirmed(); got != time.Second {
		t.Errorf("%v, want that of the second lock", got)
	}
}

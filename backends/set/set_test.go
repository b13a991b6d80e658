package set

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

func mustBeRefused(t *testing.T, a backend.Attempt, by *fake) {
	t.Helper()
	_, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) || held.Lock != by.name {
		t.Fatalf("got %v, want a refusal by %s", err, by.name)
	}
}

// mustBeFree fails if somebody holds one of the locks or waits for it.
func mustBeFree(t *testing.T, locks ...*fake) {
	t.Helper()
	for _, f := range locks {
		if f.holder() != "" || f.waiters != 0 {
			t.Errorf("%s: held by %q, %d waiting", f.name, f.holder(), f.waiters)
		}
	}
}

func TestAllOrNone(t *testing.T) {
	f := fakes("a", "b", "c")
	other := f[1].alone(t)
	a := wish(t, f[0].lock(), f[1].lock(), f[2].lock())
	mustBeRefused(t, a, f[1])
	mustBeFree(t, f[0], f[2])
	if err := other.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := mustTake(t, a)
	want := f[0].holder() + "," + f[1].holder() + "," + f[2].holder()
	if h.ID() != want {
		t.Errorf("id %s, want %s", h.ID(), want)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustBeFree(t, f...)
}

func TestWithdrawLeavesNothing(t *testing.T) {
	f := fakes("a", "b", "c")
	broken := errors.New("broken")
	f[2].fail = func(op string) error {
		if op == "try" {
			return broken
		}
		return nil
	}
	a := wish(t, f[0].lock(), f[1].lock(), f[2].lock())
	if _, err := a.Try(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if err := a.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustBeFree(t, f...)
}

// The order of trying is the same for all sets. The order of the answers is the one given.
func TestOrders(t *testing.T) {
	f := fakes("a", "b", "c")
	var tried []string
	for _, one := range f {
		one.fail = func(op string) error {
			if op == "try" {
				tried = append(tried, one.name)
			}
			return nil
		}
	}
	h := mustTake(t, wish(t, f[2].lock(), f[0].lock(), f[1].lock(), f[2].lock()))
	if !slices.Equal(tried, []string{"a", "b", "c"}) {
		t.Errorf("tried %v", tried)
	}
	want := []string{f[2].holder(), f[0].holder(), f[1].holder(), f[2].holder()}
	if h.ID() != strings.Join(want, ",") {
		t.Errorf("ids %s, want %v", h.ID(), want)
	}
	if n := len(h.(backend.MultiHold).Tokens()); n != 4 {
		t.Errorf("%d tokens, want 4", n)
	}
}

func TestOneLockTwice(t *testing.T) {
	f := newFake("a")
	t.Run("other options", func(t *testing.T) {
		other := f.lock()
		other.Address += "?create=no"
		if _, err := wish(t, f.lock(), other).Try(t.Context()); backend.CodeOf(err) != protocol.Usage {
			t.Errorf("got %v", err)
		}
	})
	t.Run("by names nobody can compare", func(t *testing.T) {
		a := wish(t, f.lock(), f.as("somewhere else"))
		_, err := a.Try(t.Context())
		if backend.CodeOf(err) != protocol.Usage || !strings.Contains(err.Error(), "same lock") {
			t.Errorf("got %v", err)
		}
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("exclusive and shared", func(t *testing.T) {
		shared := f.lock()
		shared.Ask = func(r backend.Request) backend.Request { r.Owner.Mode = "shared"; return r }
		for _, locks := range [][]Lock{{shared, f.lock()}, {f.lock(), shared}} {
			a := wish(t, locks...)
			h := mustTake(t, a)
			if a.members[0].shares(request()) {
				t.Error("it is only shared")
			}
			if err := h.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	mustBeFree(t, f)
}

func TestTooMany(t *testing.T) {
	locks := make([]Lock, Max+1)
	if _, err := New(locks); backend.CodeOf(err) != protocol.Usage {
		t.Errorf("got %v", err)
	}
}

// The loss of one lock is the loss of all. The locks that are not lost are given back, whatever
// goes wrong on the way.
func TestLossOfOne(t *testing.T) {
	f := fakes("a", "b", "c")
	h := mustTake(t, wish(t, f[0].lock(), f[1].lock(), f[2].lock()))
	f[1].remove()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat: %v", err)
	}
	failed := false
	f[2].fail = func(op string) error {
		if op == "release" && !failed {
			failed = true
			return errors.New("not now")
		}
		return nil
	}
	if err := h.Release(t.Context()); err == nil || errors.Is(err, backend.ErrGone) {
		t.Errorf("first release: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("second release: %v", err)
	}
	if n, err := h.(backend.NotedHold).Note(t.Context()); err != nil || n == nil || n.Host != "b" {
		t.Errorf("the note is %v, %v, want that of the lock that is gone", n, err)
	}
	mustBeFree(t, f...)
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
				f := fakes("a", "b")
				h := mustTake(t, wish(t, f[0].lock(), f[1].lock()))
				f[0].remove()
				f[1].fail = func(string) error { return trouble(answer) }
				start := time.Now()
				if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
					t.Errorf("got %v", err)
				}
				if d := time.Since(start); d > time.Second {
					t.Errorf("told after %v", d)
				}
			})
		})
	}
}

// holdingOn makes a set hold on from the first refusal.
func holdingOn(a *attempt) *attempt {
	a.set.policy = Policy{Hold: 10 * lease}
	a.holdsOn = true
	return a
}

// A set that waits with locks held keeps them alive, but only as long as it holds on.
func TestInsistence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		f[1].alone(t)
		a := holdingOn(wish(t, f[0].lock(), f[1].lock()))
		mustBeRefused(t, a, f[1])
		if f[0].holder() == "" {
			t.Fatal("gave back what it holds on to")
		}
		start := time.Now()
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d < 10*lease || d > 10*lease+time.Second {
			t.Errorf("held on for %v", d)
		}
		if f[0].holder() != "" {
			t.Error("the set still holds a lock after it held on")
		}
		if f[0].beats < 39 {
			t.Errorf("%d heartbeats in ten leases", f[0].beats)
		}
	})
}

// If a set loses one of its locks while it waits for another, it starts over.
func TestLossWhileInsisting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		f[1].alone(t)
		a := holdingOn(wish(t, f[0].lock(), f[1].lock()))
		mustBeRefused(t, a, f[1])
		f[0].remove()
		start := time.Now()
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > lease {
			t.Errorf("noticed after %v", d)
		}
		mustBeRefused(t, a, f[1])
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		mustBeFree(t, f[0])
	})
}

// Locks that were taken long ago are proven again before the set counts as held. If one was lost
// meanwhile, the set starts over.
func TestLossBeforeAllAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		other := f[1].alone(t)
		a := holdingOn(wish(t, f[0].lock(), f[1].lock()))
		mustBeRefused(t, a, f[1])
		time.Sleep(lease / 2)
		f[0].remove()
		if err := other.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		var held *backend.HeldError
		if _, err := a.Try(t.Context()); !errors.As(err, &held) || !errors.Is(err, backend.ErrGone) {
			t.Fatalf("got %v", err)
		}
		h := mustTake(t, a)
		if c := h.(backend.MultiHold).Confirmed(); c < request().Clock.Now()-lease/4 {
			t.Errorf("confirmed %v ago", request().Clock.Now()-c)
		}
	})
}

// If the place of one lock hangs, the set does not keep the other locks from other people. A hold
// that comes too late is given back.
func TestPlaceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		answer := make(chan struct{})
		f[1].fail = func(op string) error {
			if op == "try" {
				<-answer
			}
			return nil
		}
		a := wish(t, f[0].lock(), f[1].lock())
		start := time.Now()
		_, err := a.Try(t.Context())
		var held *backend.HeldError
		if !errors.As(err, &held) || held.Obstacle == nil {
			t.Fatalf("got %v", err)
		}
		if d := time.Since(start); d > lease/2 {
			t.Errorf("held the other one for %v", d)
		}
		mustBeFree(t, f[0])
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Wait(ctx); err == nil {
			t.Error("waited for nothing")
		}
		if err := a.Withdraw(ctx); err == nil {
			t.Error("withdrew a call that hangs")
		}
		close(answer)
		synctest.Wait()
		mustBeFree(t, f...)
	})
}

// The same goes for a lock that hangs later, whatever it is asked.
func TestPlaceThatHangsLater(t *testing.T) {
	for op, begin := range map[string]func(t *testing.T, f []*fake) func(){
		"heartbeat between tries": func(t *testing.T, f []*fake) func() {
			f[1].fail = func(op string) error {
				if op == "try" {
					time.Sleep(lease / 5) // so that the first needs a heartbeat
				}
				return nil
			}
			a := wish(t, f[0].lock(), f[1].lock(), f[2].lock())
			return func() { _, _ = a.Try(t.Context()) }
		},
		"heartbeat while holding on": func(t *testing.T, f []*fake) func() {
			f[2].alone(t)
			a := holdingOn(wish(t, f[0].lock(), f[1].lock(), f[2].lock()))
			mustBeRefused(t, a, f[2])
			return func() { _ = a.Wait(t.Context()) }
		},
		"withdraw": func(t *testing.T, f []*fake) func() {
			f[0].alone(t)
			a := holdingOn(wish(t, f[0].as("z"), f[1].lock(), f[2].lock()))
			mustBeRefused(t, a, f[0])
			_ = a.Wait(t.Context()) // until it gives back
			f[2].alone(t)
			return func() {
				_, _ = a.Try(t.Context())
				_ = a.Wait(t.Context())
			}
		},
	} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakes("a", "b", "c")
				answer := make(chan struct{})
				last := begin(t, f)
				f[0].fail = func(now string) error {
					if strings.HasPrefix(op, now) {
						<-answer
					}
					return nil
				}
				done := make(chan struct{})
				go func() { last(); close(done) }()
				time.Sleep(11 * lease)
				if id := f[1].holder(); id != "" {
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
		f := fakes("a", "b")
		f[1].fail = func(op string) error {
			if op == "try" && f[1].waiters == 0 {
				f[1].waiters = 1 // so that it hangs once
				time.Sleep(5 * lease)
				f[1].waiters = 0
				f[1].fail = nil
			}
			return nil
		}
		a := wish(t, f[0].lock(), f[1].lock())
		h, err := backend.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mustBeFree(t, f...)
	})
}

// A try that waits for a hanging call goes on with the attempt that this call leaves, so that
// nothing of the attempt stays behind.
func TestTryBehindOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		answer := make(chan struct{})
		var other *fakeHold
		f.fail = func(op string) error {
			switch {
			case op != "try":
			case answer != nil:
				<-answer
				answer = nil
			default: // somebody was quicker
				other = &fakeHold{lock: f, id: "other"}
				f.held = other
			}
			return nil
		}
		a := wish(t, f.lock())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.arrange(); err != nil {
			t.Fatal(err)
		}
		if err := a.members[0].try(ctx, a.request); err == nil {
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
		f.fail = nil
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		if err := other.Release(t.Context()); err != nil {
			t.Error(err)
		}
		mustBeFree(t, f)
	})
}

// No heartbeat waits for housekeeping that hangs.
func TestHousekeepingThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		h := mustTake(t, wish(t, f.lock(), newFake("b").lock()))
		h.(*hold).tenders = []backend.Hold{hanging{}}
		go func() { _ = h.Tend(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), lease)
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
	h := &hold{members: []*member{{confirmed: 3 * time.Second}, {confirmed: time.Second}, {confirmed: 2 * time.Second}}}
	if got := h.Confirmed(); got != time.Second {
		t.Errorf("%v, want that of the second lock", got)
	}
}

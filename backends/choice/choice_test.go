package choice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/detached"
	"locksmith/backends/member"
	"locksmith/protocol"
	"locksmith/test/backendtest/membertest"
)

// wish begins an attempt at any of these locks.
func wish(t testing.TB, all ...*membertest.Fake) *attempt {
	t.Helper()
	var locks []member.Lock
	for _, f := range all {
		locks = append(locks, f.Lock())
	}
	l, err := New(locks)
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Attempt(membertest.Request())
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

// TestWaitsForAll: the lock that becomes free first is taken, and no trace is left at the
// others.
func TestWaitsForAll(t *testing.T) {
	for freed := range 3 {
		synctest.Test(t, func(t *testing.T) {
			f := membertest.Several("a", "b", "c")
			var others []backend.Hold
			for _, one := range f {
				others = append(others, one.Alone(t))
			}
			a := wish(t, f...)
			_, err := a.Try(t.Context())
			var held *backend.HeldError
			if !errors.As(err, &held) || held.Lock != "a" || len(held.Others) != 2 {
				t.Fatalf("all three locks are held: Try returns %v, want a HeldError for a, and 2 others", err)
			}
			waits := detached.GoErr(func() error { return a.Wait(t.Context()) })
			synctest.Wait()
			if waits.IsBack() {
				t.Fatal("all locks are held, and Wait returns")
			}
			if err := others[freed].Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := waits.Result(); err != nil {
				t.Fatal(err)
			}
			h := membertest.MustTake(t, a)
			if got := h.(backend.SeveralHold).Chosen(); got != freed {
				t.Errorf("lock number %d was chosen, want number %d, which was released", got, freed)
			}
			for i, one := range f {
				if one.Waiters != 0 || i != freed && one.Holder() != others[i].ID() {
					t.Errorf("after the choice lock %s is held by %q and %d wait for it; want its holder of before, and no waiter", one.Name, one.Holder(), one.Waiters)
				}
			}
		})
	}
}

// TestSpread: the same id always tries in the same order. Over many ids each lock comes first
// about as often.
func TestSpread(t *testing.T) {
	var all []*candidate
	for i := range 8 {
		all = append(all, &candidate{Member: &member.Member{Lock: member.Lock{Address: fmt.Sprintf("nfs:/shared/gpu/%d", i)}}, index: i})
	}
	first := make([]int, len(all))
	for id := range 8000 {
		order := spread(fmt.Sprintf("%032x", id), all)
		if !slices.Equal(order, spread(fmt.Sprintf("%032x", id), all)) {
			t.Fatal("it is another order now")
		}
		first[order[0].index]++
	}
	if least := slices.Min(first); least < 500 {
		t.Errorf("of 8000 each came first so often: %v", first)
	}
}

// TestSpreads: each lock is tried first by somebody.
func TestSpreads(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	seen := map[int]bool{}
	for range 200 { // all of them miss one lock once in 10^35 runs
		h := membertest.MustTake(t, wish(t, f...))
		seen[h.(backend.SeveralHold).Chosen()] = true
		if err := h.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("of three free locks 200 choices took only the numbers %v, want all three: look at spread", seen)
	}
}

// TestWithdraws: a process that gives up leaves no trace, whether it has waited or not.
func TestWithdraws(t *testing.T) {
	for _, waited := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := membertest.Several("a", "b")
			f[0].Alone(t)
			f[1].Alone(t)
			a := wish(t, f...)
			_, _ = a.Try(t.Context())
			if waited {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := a.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
			if err := a.Withdraw(t.Context()); err != nil || f[0].Waiters+f[1].Waiters != 0 {
				t.Errorf("Withdraw returns %v, and %d and %d still wait for the locks; want no error and nobody", err, f[0].Waiters, f[1].Waiters)
			}
		})
	}
}

// TestWithoutBroken: a lock that cannot be had is left out as long as there is another.
func TestWithoutBroken(t *testing.T) {
	broken := errors.New("broken")
	breaks := func(err error) func(string) error {
		return func(op string) error {
			if op == "try" {
				return err
			}
			return nil
		}
	}
	for range 10 { // each time in another order
		f := membertest.Several("a", "b")
		f[0].Fail = breaks(broken)
		a := wish(t, f...)
		if h := membertest.MustTake(t, a); h.(backend.SeveralHold).Chosen() != 1 {
			t.Error("the member whose tries fail was chosen")
		}
		a = wish(t, f...)
		if _, err := a.Try(t.Context()); backend.CodeOf(err) != protocol.Held {
			t.Errorf("one lock is broken and the other held: Try returns %v, want code %s", err, protocol.Held)
		}
		f[1].Fail = breaks(errors.New("broken, too"))
		if _, err := wish(t, f...).Try(t.Context()); !errors.Is(err, broken) {
			t.Errorf("both locks are broken: Try returns %v, want the error of the first", err)
		}
	}
}

// TestComesBack: a lock whose place does not answer is tried again after a pause that grows,
// and taken when it answers. Its old attempt is ended first.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Alone(t)
		start := time.Now()
		var tried []time.Duration
		withdrawn := 0
		f[0].Fail = func(op string) error {
			switch {
			case op == "try":
				tried = append(tried, time.Since(start))
			case op == "withdraw":
				withdrawn++
			}
			if op == "try" && time.Since(start) < 10*time.Minute {
				return &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: "ask", Err: errors.New("no answer")}
			}
			return nil
		}
		h, err := backend.Acquire(t.Context(), wish(t, f...))
		if err != nil || h.(backend.SeveralHold).Chosen() != 0 {
			t.Fatalf("the place of a answers after ten minutes, b stays held: Acquire gives %v and the error %v, want a", h, err)
		}
		if n := len(tried); n < 12 || n > 30 || withdrawn != n-1 || tried[1] > 2*firstPause || tried[n-1]-tried[n-2] < longestPause {
			t.Errorf("a place that does not answer was tried after %v, and withdrawn %d times; want 12 to 30 tries with pauses that grow from %v to %v, and a withdrawal before each but the first", tried, withdrawn, firstPause, longestPause)
		}
	})
}

// TestEndsOldAttempt: a lock stays out until its old attempt has ended, however often that fails.
// Otherwise a trace of the attempt would stay.
func TestEndsOldAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		other := f[0].Alone(t)
		f[1].Alone(t)
		a := wish(t, f...)
		if _, err := a.Try(t.Context()); backend.CodeOf(err) != protocol.Held || f[0].Waiters != 1 {
			t.Fatalf("both locks are held: Try returns %v, and %d wait for a, want code %s and one", err, f[0].Waiters, protocol.Held)
		}
		fails := map[string]int{"try": 1, "withdraw": 2}
		f[0].Fail = func(op string) error {
			if fails[op]--; fails[op] >= 0 {
				return &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: op, Err: errors.New("no answer")}
			}
			return nil
		}
		if err := other.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := backend.Acquire(t.Context(), a)
		if err != nil || h.(backend.SeveralHold).Chosen() != 0 || f[0].Waiters != 0 {
			t.Errorf("the place of a did not answer one try and two withdrawals: Acquire gives %v and the error %v, and %d wait for a; want a, and nobody", h, err, f[0].Waiters)
		}
	})
}

// TestAnswerEndsPauses: a place that has answered, and then does not answer again, is tried again
// after the first pause, not after the long one of before.
func TestAnswerEndsPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[1].Alone(t)
		start, answered := time.Now(), false
		var again []time.Duration // when a was tried since its answer
		f[0].Fail = func(op string) error {
			if op != "try" || len(again) == 2 {
				return nil
			}
			if since := time.Since(start); answered {
				again = append(again, since)
			} else if since > 5*time.Minute {
				answered = true
				return &backend.HeldError{Lock: "a"}
			}
			return &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: "ask", Err: errors.New("no answer")}
		}
		h, err := backend.Acquire(t.Context(), wish(t, f...))
		if err != nil || h.(backend.SeveralHold).Chosen() != 0 || len(again) != 2 {
			t.Fatalf("Acquire gives %v and the error %v, after tries of a at %v since its answer; want a after two", h, err, again)
		}
		if pause := again[1] - again[0]; pause > 2*firstPause {
			t.Errorf("after an answer the first pause of a place is %v, want %v at most: look at pause (choice.go)", pause, 2*firstPause)
		}
	})
}

// TestTellsOfWhatMayPass: if no lock can be had, the error is that of the lock that may come
// back.
func TestTellsOfWhatMayPass(t *testing.T) {
	f := membertest.Several("a", "b")
	for i, code := range []protocol.Code{protocol.Permission, protocol.Unreachable} {
		f[i].Fail = func(string) error {
			return &backend.Error{Code: code, Lock: f[i].Name, Op: "ask", Err: errors.New("no")}
		}
	}
	if _, err := wish(t, f...).Try(t.Context()); backend.CodeOf(err) != protocol.Unreachable {
		t.Errorf("one lock is not allowed, and the place of the other is away: Try returns %v, want code %s, which may pass", err, protocol.Unreachable)
	}
}

// TestStaysOutIfItLasts: a lock whose place cannot be reached until somebody corrects something
// stays out, however long the others are held. It does so also if that was found out when the
// attempt before was withdrawn. A withdrawal that was merely cut off is tried again.
func TestStaysOutIfItLasts(t *testing.T) {
	passing := &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: "connect", Err: errors.New("no route to host")}
	lasting := &backend.Error{Code: protocol.Unreachable, Lock: "a", Op: "connect", Err: errors.New("no such host"), Lasts: true}
	unknown := &backend.Error{Code: protocol.Internal, Lock: "a", Op: "withdraw", Err: context.DeadlineExceeded}
	const tooLong = membertest.Lease/4 + member.AnswerTime/2
	for about, c := range map[string]struct {
		try, withdraw error
		takes         time.Duration // each withdrawal
		again         bool          // want: the lock is tried more than once
	}{
		"passes":                     {passing, nil, 0, true},
		"lasts":                      {lasting, nil, 0, false},
		"lasts at withdrawal":        {passing, lasting, 0, false},
		"lasts at a late withdrawal": {passing, lasting, tooLong, false},
		"withdrawal is cut off":      {passing, unknown, tooLong, true},
	} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := membertest.Several("a", "b")
				other := f[1].Alone(t)
				tries, withdrawals := 0, 0
				f[0].Fail = func(op string) error {
					switch op {
					case "try":
						tries++
						return c.try
					case "withdraw":
						withdrawals++
						time.Sleep(c.takes)
						if withdrawals == 1 {
							return c.withdraw
						}
					}
					return nil
				}
				time.AfterFunc(time.Hour, func() { _ = other.Release(context.Background()) })
				h, err := backend.Acquire(t.Context(), wish(t, f...))
				if err != nil || h.(backend.SeveralHold).Chosen() != 1 {
					t.Fatalf("a cannot be reached, b is released after an hour: Acquire gives %v and the error %v, want b", h, err)
				}
				time.Sleep(membertest.Lease) // so that a withdrawal that was left behind ends
				if again := tries > 1; again != c.again {
					t.Errorf("the lock was tried %d times in an hour, want more than once: %v; look at mayPass", tries, c.again)
				}
			})
		})
	}
}

// TestPassesByOneThatHangs: a choice goes on to the next lock. The one that hangs is given back
// when it comes after all.
func TestPassesByOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b", "c")
		f[0].Fail = func(op string) error {
			if op == "try" {
				time.Sleep(time.Hour)
			}
			return nil
		}
		for _, one := range f[1:] {
			other := one.Alone(t)
			time.AfterFunc(membertest.Lease/2, func() { _ = other.Release(context.Background()) })
		}
		a := wish(t, f...)
		start := time.Now()
		h, err := backend.Acquire(t.Context(), a)
		if err != nil || h.(backend.SeveralHold).Chosen() == 0 {
			t.Fatalf("the place of a hangs, the others are released: Acquire gives %v and the error %v, want b or c", h, err)
		}
		if d := time.Since(start); d > membertest.Lease {
			t.Errorf("a lock was chosen after %v, want a lease (%v) at most", d, membertest.Lease)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
		membertest.MustBeFree(t, f...)
	})
}

// TestLeavesOneThatHangs: a choice that goes on while the wait for a lock hangs leaves no trace there
// when that wait comes back.
func TestLeavesOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		answer := make(chan struct{})
		f[0].Fail = membertest.HangAt("wait", answer)
		first, other := f[0].Alone(t), f[1].Alone(t)
		time.AfterFunc(membertest.Lease, func() { _ = other.Release(context.Background()) })
		h, err := backend.Acquire(t.Context(), wish(t, f...))
		if err != nil || h.(backend.SeveralHold).Chosen() != 1 || f[0].Waiters != 1 {
			t.Fatalf("the wait for a hangs, b is released: Acquire gives %v and the error %v, and %d wait for a; want b, and one", h, err, f[0].Waiters)
		}
		close(answer)
		synctest.Wait()
		if f[0].Waiters != 0 || f[0].Holder() != first.ID() {
			t.Errorf("the wait for a has come back after b was taken: %d wait for a, and %s holds it, want nobody, and %s", f[0].Waiters, f[0].Holder(), first.ID())
		}
	})
}

// TestCrowd: there are never more holders than locks, each has the lock that it was told of,
// and all get their turns.
func TestCrowd(t *testing.T) {
	f := membertest.Several("a", "b", "c")
	var inside atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				h, err := backend.Acquire(t.Context(), wish(t, f...))
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > 3 {
					t.Errorf("three locks have %d holders at a time", n)
				}
				if id := f[h.(backend.SeveralHold).Chosen()].Holder(); id != h.ID() {
					t.Errorf("the lock that was chosen is held by %s, want %s", id, h.ID())
				}
				inside.Add(-1)
				if err := h.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	membertest.MustBeFree(t, f...)
}

// TestTellsOfTheHeld: if any of several locks would do, one that is held tells more than one
// whose place does not answer.
func TestTellsOfTheHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		f[0].Fail = func(op string) error {
			if op == "try" {
				return &backend.HeldError{Lock: "a", Obstacle: backend.ErrNoAnswer}
			}
			return nil
		}
		h, err := wish(t, f[1]).Try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := wish(t, f...)
		_, err = a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || !held.Answered() || held.Lock != "b" || len(held.Others) != 1 {
			t.Errorf("the place of a does not answer, b is held: Try returns %v, want a HeldError that tells of b, and 1 other", err)
		}
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

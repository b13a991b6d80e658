package set

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// TestMemberAway: if a member of a set cannot be reached for now, the set says that nothing is
// known of that lock, keeps the other locks from nobody, and is taken when the member is back.
func TestMemberAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		away := true
		f[1].fail = func(op string) error {
			if op == "try" && away {
				return &backend.Error{Code: protocol.Unreachable, Lock: "b", Op: "connect", Err: errors.New("refused")}
			}
			return nil
		}
		a := wish(t, f[0].lock(), f[1].lock())
		_, err := a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || held.Answered() || held.Lock != "fake:/b" {
			t.Fatalf("got %v", err)
		}
		mustBeFree(t, f[0])
		away = false
		h, err := backend.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFirstMemberHangs: a set that holds nothing yet waits for its first member for a lease, and
// then says that it had no answer.
func TestFirstMemberHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		answer := make(chan struct{})
		f[0].fail = func(op string) error {
			if op == "try" {
				<-answer
			}
			return nil
		}
		a := wish(t, f[0].lock(), f[1].lock())
		start := time.Now()
		_, err := a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || held.Answered() {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d < lease || d > lease+time.Second {
			t.Errorf("it waited for %v", d)
		}
		mustBeFree(t, f[1])
		close(answer)
		synctest.Wait()
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		mustBeFree(t, f[0])
	})
}

// TestAnyTellsOfTheHeld: if any of several locks would do, one that is held tells more than one
// whose place does not answer.
func TestAnyTellsOfTheHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakes("a", "b")
		f[0].fail = func(op string) error {
			if op == "try" {
				return &backend.HeldError{Lock: "a", Obstacle: backend.ErrNoAnswer}
			}
			return nil
		}
		h, err := wish(t, f[1].lock()).Try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := wishAny(t, f...)
		_, err = a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || !held.Answered() || held.Lock != "b" || held.Others != 1 {
			t.Errorf("got %v", err)
		}
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

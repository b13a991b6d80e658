package set

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest/membertest"
)

// TestMemberAway: if a member of a set cannot be reached for now, the set says that nothing is
// known of that lock, keeps the other locks from nobody, and is taken when the member is back.
func TestMemberAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := membertest.Several("a", "b")
		away := true
		f[1].Fail = func(op string) error {
			if op == "try" && away {
				return &backend.Error{Code: protocol.Unreachable, Lock: "b", Op: "connect", Err: errors.New("refused")}
			}
			return nil
		}
		a := wish(t, f[0].Lock(), f[1].Lock())
		_, err := a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || held.Answered() || held.Lock != "fake:/b" {
			t.Fatalf("the place of the second lock is away: Try returns %v, want a HeldError for fake:/b without an answer", err)
		}
		membertest.MustBeFree(t, f[0])
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
		f := membertest.Several("a", "b")
		answer := make(chan struct{})
		f[0].Fail = membertest.HangAt("try", answer)
		a := wish(t, f[0].Lock(), f[1].Lock())
		start := time.Now()
		_, err := a.Try(t.Context())
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || held.Answered() {
			t.Errorf("the place of the first lock hangs: Try returns %v, want a HeldError without an answer", err)
		}
		if d := time.Since(start); d < membertest.Lease || d > membertest.Lease+time.Second {
			t.Errorf("Try waited %v for the first lock, want a lease (%v)", d, membertest.Lease)
		}
		membertest.MustBeFree(t, f[1])
		close(answer)
		synctest.Wait()
		if err := a.Withdraw(t.Context()); err != nil {
			t.Error(err)
		}
		membertest.MustBeFree(t, f[0])
	})
}

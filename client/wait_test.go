package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
)

// untilHeld tries with more and more time, until that is enough to see the holder.
func untilHeld(t *testing.T, try func(time.Duration) error) error {
	t.Helper()
	for d := 200 * time.Millisecond; ; d *= 2 {
		if err := try(d); errors.Is(err, client.ErrHeld) || d > timeout/4 {
			return err
		}
	}
}

// TestDeadlineNamesHolder: a caller that waited in vain learns for whom, whether by Timeout or
// by a context that ends, and why the context ended.
func TestDeadlineNamesHolder(t *testing.T) {
	address, _ := newLock(t)
	l := acquire(t, address)
	never := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) { return time.Hour, true })
	for name, options := range map[string][]client.Option{"helper": nil, "policy": {never}} {
		t.Run(name, func(t *testing.T) {
			err := untilHeld(t, func(d time.Duration) error {
				ctx, cancel := context.WithTimeoutCause(t.Context(), d, errWork)
				defer cancel()
				_, err := client.Acquire(ctx, address, options...)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errWork) {
					t.Errorf("a context that ends: Acquire returns %v", err)
				}
				return err
			})
			var held *client.HeldError
			if !errors.As(err, &held) || held.Holder.ID != l.ID() {
				t.Fatalf("Acquire returns %v, want a HeldError", err)
			}
			text, _, _ := strings.Cut(err.Error(), "; the helper has not ended yet") // as on a busy machine
			if strings.Count(text, address) != 1 || !strings.Contains(text, "held by ") || !strings.Contains(text, errWork.Error()) {
				t.Errorf("the error says %q; want the address once, the holder and the cause", text)
			}
		})
	}
}

// TestTryAcquireWithPolicy: TryAcquire makes one try, whatever wait the options ask for.
func TestTryAcquireWithPolicy(t *testing.T) {
	address, _ := newLock(t)
	acquire(t, address)
	policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) {
		t.Error("TryAcquire asks the wait policy")
		return 0, false
	})
	err := refused(t, address, policy, client.Timeout(time.Hour), client.Retries(7))
	var held *client.HeldError
	if !errors.As(err, &held) || held.Code != protocol.Held || errors.Is(err, client.ErrGaveUp) {
		t.Errorf("TryAcquire returns %v, want a HeldError", err)
	}
}

// TestPolicyWithTimeout: a policy decides for as long as the timeout allows.
func TestPolicyWithTimeout(t *testing.T) {
	address, _ := newLock(t)
	l := acquire(t, address)
	for _, pause := range []time.Duration{time.Millisecond, time.Hour} {
		policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) { return pause, true })
		err := untilHeld(t, func(d time.Duration) error {
			_, err := client.Acquire(t.Context(), address, policy, client.Timeout(d))
			return err
		})
		var held *client.HeldError
		if !errors.As(err, &held) || held.Code != protocol.Timeout || held.Holder.ID != l.ID() {
			t.Errorf("a policy that goes on beyond the timeout: Acquire returns %v", err)
		}
		if errors.Is(err, client.ErrGaveUp) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "gave up after") {
			t.Errorf("the error does not tell the timeout: %v", err)
		}
	}
}

// TestPolicyWithRetries: Retries beside a policy is refused, because only one may count the
// tries.
func TestPolicyWithRetries(t *testing.T) {
	address, path := newLock(t)
	policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) { return 0, false })
	_, err := client.Acquire(t.Context(), address, policy, client.Retries(3))
	if !errors.Is(err, client.ErrUsage) || !strings.Contains(err.Error(), address) {
		t.Errorf("Acquire returns %v, want ErrUsage and the lock", err)
	}
	mustBeFree(t, path)
}

// TestWaiting: a waiter is told who has the lock, and when another has it.
func TestWaiting(t *testing.T) {
	const script = `behind() { echo BUSY tries=1 waited_ms=0 holder=$1 user=alice host=web3 pid=42 "text=local:/x: held by alice for $1"; read -r answer; [ "$answer" = "PAUSE ms=0" ] || exit 1; }
behind x; behind x; behind y; echo OK proto=1 waited_ms=0 lease_ms=60000; cat; echo RELEASED held_ms=0`
	var seen []string
	l, err := client.Acquire(t.Context(), "local:/x", client.Helper("sh", "-c", script), client.Waiting(func(held *client.HeldError) {
		h := held.Holder
		seen = append(seen, fmt.Sprintf("%s %s %s %d %s %v", h.ID, h.User, h.Host, h.PID, held.Code, held))
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"x alice web3 42 held local:/x: held by alice for x", "y alice web3 42 held local:/x: held by alice for y"}; !slices.Equal(seen, want) {
		t.Errorf("the function of Waiting was told of %q", seen)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestWaitingForOurs does the same with the real helper: for a lock, and for one of a set.
func TestWaitingForOurs(t *testing.T) {
	address, path := newLock(t)
	other, _ := newLock(t)
	path = filepath.ToSlash(strings.TrimPrefix(path, filepath.VolumeName(path)))
	for name, locks := range map[string][]string{"lock": {address}, "set": {other, address}} {
		t.Run(name, func(t *testing.T) {
			first := acquire(t, address)
			l, err := client.Acquire(t.Context(), locks[0], client.And(locks[1:]...), client.Waiting(func(held *client.HeldError) {
				if held.Holder.ID != first.ID() || !strings.HasSuffix(filepath.ToSlash(held.Lock), path) || !strings.Contains(held.Error(), path+": held by "+held.Holder.User) {
					t.Errorf("the function of Waiting was told of the wrong holder: %+v", held)
				}
				_ = first.Release()
			}))
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Release()
		})
	}
}

// TestPolicyLeavesItToTheHelper: if the policy's pause is 0, one helper waits for as long as it
// takes.
func TestPolicyLeavesItToTheHelper(t *testing.T) {
	address, path := newLock(t)
	first := acquire(t, address)
	started := path + ".started"
	ours := client.Helper("sh", "-c", `echo >>"$0"; LOCKSMITH_SELF_HELPER=1 exec "$@"`, started, os.Args[0])
	asked := 0
	l, err := client.Acquire(t.Context(), address, ours, client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) {
		if asked++; asked == 1 {
			time.AfterFunc(300*time.Millisecond, func() { _ = first.Release() })
		}
		return 0, true
	}))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Release()
	if starts, err := os.ReadFile(started); err != nil || asked != 1 || len(starts) != 1 {
		t.Errorf("with a pause of 0 the policy was asked %d times, with %d helpers, %v", asked, len(starts), err)
	}
}

// TestPolicyHasOneHelper: one helper asks the policy, however often.
func TestPolicyHasOneHelper(t *testing.T) {
	address, path := newLock(t)
	first := acquire(t, address)
	started := path + ".started"
	ours := client.Helper("sh", "-c", `echo >>"$0"; LOCKSMITH_SELF_HELPER=1 exec "$@"`, started, os.Args[0])
	var pids []int
	l, err := client.Acquire(t.Context(), address, ours, client.Wait(func(tries int, waited time.Duration, held *client.HeldError) (time.Duration, bool) {
		if pids = append(pids, held.Holder.PID); tries == 3 {
			_ = first.Release()
		}
		return 20 * time.Millisecond, true
	}))
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Release()
	if starts, err := os.ReadFile(started); err != nil || len(pids) != 3 || len(starts) != 1 {
		t.Errorf("the policy was told of the holders %d by %d helpers, want one; %v", pids, len(starts), err)
	}
}

// TestPolicyLate: a pause that is over before it begins is no pause, and does not mean 0.
func TestPolicyLate(t *testing.T) {
	address, _ := newLock(t)
	acquire(t, address)
	asked := 0
	_, err := client.Acquire(t.Context(), address, client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) {
		asked++
		return -time.Second, asked < 3
	}))
	if !errors.Is(err, client.ErrGaveUp) || asked != 3 {
		t.Errorf("with a pause below 0 the policy was asked %d times, then %v", asked, err)
	}
}

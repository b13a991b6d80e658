package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
)

// untilHeld tries with ever more time, until there was enough of it to see the holder.
func untilHeld(t *testing.T, try func(time.Duration) error) error {
	t.Helper()
	for d := 200 * time.Millisecond; ; d *= 2 {
		if err := try(d); errors.Is(err, client.ErrHeld) || d > patience/4 {
			return err
		}
	}
}

// TestDeadlineNamesHolder: who waited in vain learns for whom, whether by Timeout or by a
// context that ends, and why the context ended.
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
					t.Errorf("got %v", err)
				}
				return err
			})
			var held *client.HeldError
			if !errors.As(err, &held) || held.Holder.ID != l.ID() {
				t.Fatalf("got %v", err)
			}
			if text := err.Error(); strings.Count(text, address) != 1 || !strings.Contains(text, "held by ") || !strings.Contains(text, errWork.Error()) {
				t.Errorf("it says %q", text)
			}
		})
	}
}

// TestTryAcquireWithPolicy: whatever waiting is wished for, there is one try.
func TestTryAcquireWithPolicy(t *testing.T) {
	address, _ := newLock(t)
	acquire(t, address)
	policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) {
		t.Error("the policy was asked")
		return 0, false
	})
	_, err := client.TryAcquire(t.Context(), address, policy, client.Timeout(time.Hour), client.Retries(7))
	var held *client.HeldError
	if !errors.As(err, &held) || held.Code != protocol.Held || errors.Is(err, client.ErrGaveUp) {
		t.Errorf("got %v", err)
	}
}

// TestPolicyWithTimeout: a policy decides for as long as the timeout allows.
func TestPolicyWithTimeout(t *testing.T) {
	address, _ := newLock(t)
	l := acquire(t, address)
	for _, pause := range []time.Duration{time.Millisecond, time.Hour} {
		asked := 0
		policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) {
			asked++
			return pause, true
		})
		err := untilHeld(t, func(d time.Duration) error {
			_, err := client.Acquire(t.Context(), address, policy, client.Timeout(d))
			return err
		})
		var held *client.HeldError
		if !errors.As(err, &held) || held.Code != protocol.Timeout || held.Holder.ID != l.ID() || asked == 0 {
			t.Errorf("asked %d times, then %v", asked, err)
		}
		if errors.Is(err, client.ErrGaveUp) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "gave up after") {
			t.Errorf("it says %v", err)
		}
	}
}

// TestPolicyWithRetries: there is one who counts the tries.
func TestPolicyWithRetries(t *testing.T) {
	address, path := newLock(t)
	policy := client.Wait(func(int, time.Duration, *client.HeldError) (time.Duration, bool) { return 0, false })
	_, err := client.Acquire(t.Context(), address, policy, client.Retries(3))
	var refused *client.HelperError
	if !errors.As(err, &refused) || refused.Code != protocol.Usage || !strings.Contains(err.Error(), address) {
		t.Errorf("got %v", err)
	}
	mustBeFree(t, path)
}

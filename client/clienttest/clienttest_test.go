package clienttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/client/clienttest"
	"locksmith/protocol"
)

const address = "nfs:/var/lock/billing"

// bill is a service's work under its lock.
func bill(ctx context.Context, work func(context.Context) error) error {
	return client.Do(ctx, address, work, client.Timeout(time.Second))
}

func TestHeld(t *testing.T) {
	locks := clienttest.New(t)
	ctx := locks.Context(t.Context())
	locks.Hold(address)
	if _, err := client.TryAcquire(ctx, address); !errors.Is(err, client.ErrHeld) {
		t.Errorf("got %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { locks.Free(address) })
	err := bill(ctx, func(ctx context.Context) error {
		if !locks.IsHeld(address) || client.FromContext(ctx).Token() != 1 {
			t.Error("the work has no lock, or no token")
		}
		return nil
	})
	if err != nil || locks.IsHeld(address) || locks.Taken(address) != 1 {
		t.Errorf("%v, held %v, taken %d times", err, locks.IsHeld(address), locks.Taken(address))
	}
}

func TestLost(t *testing.T) {
	locks := clienttest.New(t)
	err := bill(locks.Context(t.Context()), func(ctx context.Context) error {
		locks.Lose(address, protocol.Gone)
		<-ctx.Done()
		return ctx.Err()
	})
	var lost *client.LostError
	if !errors.As(err, &lost) || lost.Code != protocol.Gone || errors.Is(err, context.Canceled) || locks.IsHeld(address) {
		t.Errorf("got %v", err)
	}
}

func TestSlow(t *testing.T) {
	locks := clienttest.New(t)
	locks.Slow(time.Hour)
	ctx, cancel := context.WithTimeout(locks.Context(t.Context()), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Acquire(ctx, address); !errors.Is(err, context.DeadlineExceeded) || locks.Taken(address) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestSeveral(t *testing.T) {
	locks := clienttest.New(t)
	ctx := locks.Context(t.Context())
	locks.Hold("local:/a")
	one, err := client.Acquire(ctx, "local:/a", client.Or("local:/b"))
	if err != nil || one.Index() != 1 {
		t.Fatalf("%v, %+v", err, one)
	}
	if _, err := client.Acquire(ctx, "local:/b", client.And("local:/c"), client.Timeout(0)); !errors.Is(err, client.ErrHeld) || locks.IsHeld("local:/c") {
		t.Errorf("got %v", err)
	}
	if err := one.Release(); err != nil {
		t.Error(err)
	}
}

// unreleased takes the place of a test that forgets its lock.
type unreleased struct {
	testing.TB
	cleanup func()
	failed  bool
}

func (u *unreleased) Cleanup(f func())      { u.cleanup = f }
func (u *unreleased) Errorf(string, ...any) { u.failed = true }

func TestForgotten(t *testing.T) {
	u := &unreleased{TB: t}
	l, err := client.Acquire(clienttest.New(u).Context(t.Context()), address)
	if err != nil {
		t.Fatal(err)
	}
	if u.cleanup(); !u.failed {
		t.Error("a lock that was forgotten is no error")
	}
	_ = l.Release()
}

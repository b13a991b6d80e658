package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
)

var errWork = errors.New("the work failed")

// hasEnded waits for the end of a context, and returns its cause.
func hasEnded(t *testing.T, ctx context.Context) error {
	t.Helper()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(timeout):
		t.Error("the work was not told to stop")
		return nil
	}
}

func TestDo(t *testing.T) {
	type key struct{}
	address, path := newLock(t)
	ctx := context.WithValue(t.Context(), key{}, "ours")
	var inside context.Context
	tooLate := make(chan bool, 1)
	err := client.Do(ctx, address, func(ctx context.Context) error {
		inside = ctx
		go func() { // what the work leaves behind
			for {
				if _, err := os.Lstat(path); err != nil {
					tooLate <- ctx.Err() == nil
					return
				}
			}
		}()
		if _, err := client.TryAcquire(ctx, address); !errors.Is(err, client.ErrHeld) {
			t.Errorf("somebody else gets %v", err)
		}
		if ctx.Value(key{}) != "ours" || ctx.Err() != nil {
			t.Errorf("context %v", ctx)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if cause := context.Cause(inside); !errors.Is(cause, client.ErrReleased) {
		t.Errorf("the context of the work ended by %v", cause)
	}
	mustBeFree(t, path)
	if <-tooLate {
		t.Error("the context of the work outlived the lock")
	}
	if err := client.Do(t.Context(), address, func(context.Context) error { return errWork }); err != errWork {
		t.Errorf("got %v", err)
	}
}

// TestDoWithoutLock: no work is done without the lock.
func TestDoWithoutLock(t *testing.T) {
	address, _ := newLock(t)
	acquire(t, address)
	err := client.Do(t.Context(), address, func(context.Context) error {
		t.Error("works beside the holder")
		return nil
	}, client.Timeout(0))
	if !errors.Is(err, client.ErrHeld) {
		t.Errorf("got %v", err)
	}
}

func TestDoCancelled(t *testing.T) {
	address, path := newLock(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	err := client.Do(ctx, address, func(ctx context.Context) error {
		cancel(errWork)
		return hasEnded(t, ctx)
	})
	if !errors.Is(err, errWork) {
		t.Errorf("got %v", err)
	}
	mustBeFree(t, path)
}

// TestDoLost: the loss stops the work, and is what Do returns, with what the work says.
func TestDoLost(t *testing.T) {
	address, path := newLock(t)
	err := client.Do(t.Context(), address, func(ctx context.Context) error {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if cause := hasEnded(t, ctx); !errors.As(cause, new(*client.LostError)) {
			t.Errorf("the work was stopped by %v", cause)
		}
		return errWork
	}, client.Refresh(time.Second))
	var lost *client.LostError
	if !errors.Is(err, client.ErrLost) || !errors.As(err, &lost) || lost.Code != protocol.Gone || lost.Work != errWork || !strings.Contains(err.Error(), errWork.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestLossIsNoCancellation: the work returns the error of its context, as most work does. Only
// a caller whose own context has ended is told of that.
func TestLossIsNoCancellation(t *testing.T) {
	for name, ends := range map[string]bool{"caller goes on": false, "caller has ended": true} {
		t.Run(name, func(t *testing.T) {
			address, path := newLock(t)
			caller, cancel := context.WithCancelCause(t.Context())
			err := client.Do(caller, address, func(ctx context.Context) error {
				kill(t, helperPID(t, path))
				_ = hasEnded(t, ctx)
				if ends {
					cancel(errWork)
				}
				return fmt.Errorf("query: %w", ctx.Err())
			})
			if !errors.Is(err, client.ErrLost) || !errors.As(err, new(*client.LostError)) || !strings.Contains(fmt.Sprint(err), "query: context canceled") {
				t.Errorf("the loss is not told: %v", err)
			}
			if errors.Is(err, context.Canceled) != ends || errors.Is(err, errWork) != ends {
				t.Errorf("a cancellation: %v, want %v: %v", errors.Is(err, context.Canceled), ends, err)
			}
		})
	}
}

// TestDoPanics: whoever recovers from a panic of the work finds the lock released.
func TestDoPanics(t *testing.T) {
	address, path := newLock(t)
	defer mustBeFree(t, path)
	defer func() { _ = recover() }()
	_ = client.Do(t.Context(), address, func(context.Context) error { panic("oops") })
	t.Error("the panic is lost")
}

// TestReleaseTellsFirst: the context ends before the helper lets go, so that whoever works
// under it has been told when another process can have the lock. This helper lets go only
// after that.
func TestReleaseTellsFirst(t *testing.T) {
	const script = `echo OK proto=1 waited_ms=0 lease_ms=60000; cat
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ ! -e "$0" ] || { echo RELEASED held_ms=0; exit; }; sleep 0.1; done`
	for name, release := range map[string]func(path string, helper client.Option) error{
		"Release": func(path string, helper client.Option) error {
			l := acquire(t, "local:/x", helper)
			context.AfterFunc(l.Context(), func() { _ = os.WriteFile(path, nil, 0o600) })
			return l.Release()
		},
		"Do": func(path string, helper client.Option) error {
			return client.Do(t.Context(), "local:/x", func(ctx context.Context) error {
				context.AfterFunc(ctx, func() { _ = os.WriteFile(path, nil, 0o600) })
				return nil
			}, helper)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, path := newLock(t)
			if err := release(path, client.Helper("sh", "-c", script, path)); err != nil {
				t.Errorf("the context did not end while the helper had the lock: %v", err)
			}
		})
	}
}

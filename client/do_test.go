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
		t.Error("the context of the work does not end: look at Do (client.go)")
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
		go func() { // goes on when the work has returned
			for {
				if _, err := os.Lstat(path); err != nil {
					tooLate <- ctx.Err() == nil
					return
				}
			}
		}()
		if err := refused(t, address); !errors.Is(err, client.ErrHeld) {
			t.Errorf("somebody else gets %v during the work, want ErrHeld", err)
		}
		if ctx.Value(key{}) != "ours" || ctx.Err() != nil {
			t.Errorf("the work's context is %v, want the caller's values and no end", ctx)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if cause := context.Cause(inside); !errors.Is(cause, client.ErrReleased) {
		t.Errorf("after the work the cause of its context is %v, want ErrReleased", cause)
	}
	mustBeFree(t, path)
	if <-tooLate {
		t.Error("the context of the work goes on after the release")
	}
	if err := client.Do(t.Context(), address, func(context.Context) error { return errWork }); err != errWork {
		t.Errorf("Do returns %v, want the work's error", err)
	}
}

// TestDoWithoutLock: without the lock no work is done.
func TestDoWithoutLock(t *testing.T) {
	address, _ := newLock(t)
	acquire(t, address)
	_, err := answered(t, func() (*client.Lock, error) {
		return nil, client.Do(t.Context(), address, func(context.Context) error {
			t.Error("Do does the work without the lock, which another holder has")
			return nil
		}, client.Timeout(0))
	})
	if !errors.Is(err, client.ErrHeld) {
		t.Errorf("Do of a held lock returns %v, want ErrHeld", err)
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

// TestDoLost: a loss stops the work. Do returns the loss, with what the work says.
func TestDoLost(t *testing.T) {
	address, path := newLock(t)
	err := client.Do(t.Context(), address, func(ctx context.Context) error {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if cause := hasEnded(t, ctx); !errors.As(cause, new(*client.LostError)) {
			t.Errorf("the cause that stopped the work is %v, want a LostError", cause)
		}
		return errWork
	}, client.Tuning{Refresh: time.Second})
	var lost *client.LostError
	if !errors.Is(err, client.ErrLost) || !errors.As(err, &lost) || lost.Code != protocol.Gone || lost.Work != errWork || !strings.Contains(err.Error(), errWork.Error()) {
		t.Errorf("Do returns %v, want ErrLost of the code gone with the work's error", err)
	}
}

// TestLossIsNoCancellation: most work returns the error of its context. errors.Is finds
// context.Canceled in Do's error only if the caller's own context has ended.
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
				t.Errorf("Do does not tell the loss: %v", err)
			}
			if errors.Is(err, context.Canceled) != ends || errors.Is(err, errWork) != ends {
				t.Errorf("errors.Is(err, context.Canceled) is %v, want %v: %v", errors.Is(err, context.Canceled), ends, err)
			}
		})
	}
}

// TestDoPanics: a program that recovers from a panic of the work finds the lock released.
func TestDoPanics(t *testing.T) {
	address, path := newLock(t)
	defer mustBeFree(t, path)
	defer func() { _ = recover() }()
	_ = client.Do(t.Context(), address, func(context.Context) error { panic("oops") })
	t.Error("Do swallows the panic of the work")
}

// TestReleaseTellsFirst: the lock's context, and that of the work, ends before the helper lets
// go. So whoever works under it is told before another process can have the lock. This helper
// lets go only after that.
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
				t.Errorf("the context did not end before the helper let go: %v", err)
			}
		})
	}
}

// TestLossOnce: work that ends because its lock was lost adds nothing to what is said of the loss.
func TestLossOnce(t *testing.T) {
	loss := &client.LostError{Text: "local:/x: lost"}
	for work, want := range map[error]string{
		loss:    "local:/x: lost",
		errWork: "local:/x: lost; the work under it ended with: the work failed",
	} {
		if got := (&client.LostError{Text: loss.Text, Work: work}).Error(); got != want {
			t.Errorf("after work that ended with %q the loss is %q, want %q", work, got, want)
		}
	}
}

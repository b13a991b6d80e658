//go:build unix

package nfs

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/shelf"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// meddled is a lock directory that calls a function before a call.
type meddled struct {
	symlinks.Dir
	before func(op, name string)
}

func (d *meddled) Rmdir(ctx context.Context, name string) error {
	d.before("rmdir", name)
	return d.Dir.Rmdir(ctx, name)
}

func (d *meddled) Symlink(ctx context.Context, target, name string) error {
	d.before("symlink", name)
	return d.Dir.Symlink(ctx, target, name)
}

func (d *meddled) Unlink(ctx context.Context, name string) error {
	d.before("unlink", name)
	return d.Dir.Unlink(ctx, name)
}

// remove removes the lock at a path. It calls meddle before each call of the removal that changes
// something.
func remove(t *testing.T, path string, meddle func(op, name string)) error {
	t.Helper()
	l := openLock(t, path).(*lock)
	d := &meddled{Dir: l.Dir, before: func(string, string) {}}
	l.Lock.Dir, l.Use = d, nil
	a, err := l.Lock.Attempt(backendtest.Request())
	mustWork(t, err)
	h, err := a.Try(t.Context())
	mustWork(t, err)
	d.before = meddle
	return l.Remove(t.Context(), h)
}

// another is a hold that wraps ours.
type another struct{ backend.Hold }

// TestRemoveAnyHold: a lock can also be removed with a wrapped hold.
func TestRemoveAnyHold(t *testing.T) {
	path := t.TempDir() + "/lock"
	h, err := tryAt(t, path)
	mustWork(t, err)
	mustWork(t, openLock(t, path).(backend.Remover).Remove(t.Context(), another{h}))
	if _, err := os.Lstat(path); err == nil {
		t.Error("the lock is there after its removal")
	}
}

func tryAt(t *testing.T, path string) (backend.Hold, error) {
	t.Helper()
	a, err := openLock(t, path).Attempt(backendtest.Request())
	mustWork(t, err)
	return a.Try(t.Context())
}

// TestRemoveWhileSomebodyComes: another locker comes at each step. It gets the lock or an error,
// but never a lock that is then removed.
func TestRemoveWhileSomebodyComes(t *testing.T) {
	for _, c := range []struct {
		op, name string
		refused  bool // the other locker gets an error
	}{
		{"rmdir", "R", false},   // 1. the lock is free; 2. the other holds it; 3. R is not empty
		{"symlink", "R", false}, // 1. R is gone; 2. the other makes it anew; 3. it cannot be barred
		{"unlink", "G/lock.1", true},
		{"rmdir", "G", true},
		{"unlink", "R", true},
		{"rmdir", ".", false}, // 1. all is gone; 2. the other begins anew; 3. it is not empty
	} {
		t.Run(c.op+" "+c.name, func(t *testing.T) {
			path := t.TempDir() + "/lock"
			var got backend.Hold
			met := false
			err := remove(t, path, func(op, name string) {
				if op != c.op || name != c.name || met {
					return
				}
				met = true
				h, err := tryAt(t, path)
				if (err != nil) != c.refused || err != nil && backend.CodeOf(err) != protocol.CannotCreate {
					t.Errorf("the locker that comes during a removal gets %v", err)
				}
				got = h
			})
			switch {
			case !met:
				t.Fatal("there is no such step")
			case c.refused:
				mustWork(t, err)
				if _, err := os.Lstat(path); err == nil {
					t.Error("the lock stays after its removal")
				}
			case backend.CodeOf(err) != protocol.Held:
				t.Errorf("removed under the other: %v", err)
			}
			if got == nil {
				return
			}
			mustWork(t, got.Heartbeat(t.Context()))
			if h, err := tryAt(t, path); backend.CodeOf(err) != protocol.Held {
				t.Errorf("a second holder beside the other: %v, %v", h, err)
			}
			mustWork(t, got.Release(t.Context()))
		})
	}
}

// TestRemoveKeepsSuccess: if somebody comes before the removal begins, the last success is not
// forgotten.
func TestRemoveKeepsSuccess(t *testing.T) {
	path := t.TempDir() + "/lock"
	h, err := tryAt(t, path)
	mustWork(t, err)
	mustWork(t, shelf.Record(t.Context(), openLock(t, path).(shelf.Keeper), h))
	mustWork(t, h.Release(t.Context()))
	var other backend.Attempt
	err = remove(t, path, func(op, name string) {
		if strings.HasPrefix(name, "R/x.") && other == nil {
			other = attemptAt(t, path, "exclusive")
			mustBeHeld(t, other)
		}
	})
	if backend.CodeOf(err) != protocol.Held || other == nil {
		t.Errorf("removed under the other: %v", err)
	}
	if r := inspect(t, path); r.Success == nil {
		t.Error("the success is forgotten")
	}
	mustRelease(t, mustAcquire(t, other))
}

// TestRemoveBarred: a remover died after it had barred the lock. Nobody gets the lock, and no
// second remover goes on with its work.
func TestRemoveBarred(t *testing.T) {
	path := t.TempDir() + "/lock"
	func() {
		defer func() { _ = recover() }()
		_ = remove(t, path, func(op, name string) {
			if op == "rmdir" && name == "G" {
				panic("it dies")
			}
		})
	}()
	for range 2 {
		if h, err := tryAt(t, path); backend.CodeOf(err) != protocol.CannotCreate {
			t.Errorf("a try at a barred lock returns %v, %v; want an error", h, err)
		}
		time.Sleep(time.Millisecond)
	}
}

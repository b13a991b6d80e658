//go:build unix

package mkdirlock

import (
	"context"
	"os"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// meddled is a Dir that calls a function before it removes a directory.
type meddled struct {
	dirs.Dir
	before func(name string)
}

func (d *meddled) Rmdir(ctx context.Context, name string) error {
	d.before(name)
	return d.Dir.Rmdir(ctx, name)
}

func openDirStyle(t *testing.T, path string) DirStyleLock {
	t.Helper()
	b, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"style": "dir"}})
	if err != nil {
		t.Fatal(err)
	}
	return b.(DirStyleLock)
}

func tryDirStyle(t *testing.T, path string) backend.Hold {
	t.Helper()
	a, err := openDirStyle(t, path).Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRemoveWhileSomebodyComes: at each step of a removal, another process gets the lock. It
// keeps the lock.
func TestRemoveWhileSomebodyComes(t *testing.T) {
	for _, step := range []string{"L/lock", "L/fence.2", "L"} {
		t.Run(step, func(t *testing.T) {
			path := t.TempDir() + "/L"
			h := tryDirStyle(t, path)
			l := openDirStyle(t, path)
			newDir := l.NewDir
			var got backend.Hold
			l.NewDir = func() dirs.Dir {
				return &meddled{newDir(), func(name string) {
					if name == step && got == nil {
						got = tryDirStyle(t, path)
					}
				}}
			}
			if err := l.Remove(t.Context(), h); backend.CodeOf(err) != protocol.Held {
				t.Errorf("a removal beside another holder returns %v, want held", err)
			}
			if got == nil {
				t.Fatal("there is no such step")
			}
			if err := got.Heartbeat(t.Context()); err != nil {
				t.Error(err)
			}
			if err := got.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if step == "L/lock" && got.Token() != 4 {
				t.Errorf("the other's token is %d, want 4", got.Token())
			}
			if err := l.Remove(t.Context(), tryDirStyle(t, path)); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the lock stays after its removal")
			}
		})
	}
}

// TestRemoveKeepsSuccess: if another process gets the lock during its removal, the last success
// is not forgotten.
func TestRemoveKeepsSuccess(t *testing.T) {
	path := t.TempDir() + "/L"
	l, h := openDirStyle(t, path), tryDirStyle(t, path)
	mustWork(t, shelf.Record(t.Context(), l, h))
	waiter := path + "/r." + labels.Ticket{Lease: owner.MinLease, ID: owner.NewID()}.String()
	newDir := l.NewDir
	l.NewDir = func() dirs.Dir {
		return &meddled{newDir(), func(name string) {
			if name == "L/lock" {
				mustWork(t, os.Mkdir(waiter, 0o755))
			}
		}}
	}
	if err := l.Remove(t.Context(), h); backend.CodeOf(err) != protocol.Held {
		t.Errorf("a removal beside another holder returns %v, want held", err)
	}
	if r, err := openDirStyle(t, path).Read(t.Context()); err != nil || r.Success == nil {
		t.Errorf("the success is forgotten: %v", err)
	}
}

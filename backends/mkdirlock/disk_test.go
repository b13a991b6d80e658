//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"slices"
	"testing"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/faulty"
)

// A watchedDisk passes each call through a hook.
type watchedDisk struct {
	dirs.Disk
	hook faulty.Hook
}

func (w watchedDisk) Mkdir(ctx context.Context, name string) error {
	return hooked(w.Disk, w.hook).Mkdir(ctx, name)
}

func (w watchedDisk) Rename(ctx context.Context, from, to string) error {
	return hooked(w.Disk, w.hook).Rename(ctx, from, to)
}

func (w watchedDisk) RenameNew(ctx context.Context, from, to string) error {
	return w.hook.Make("rename", from, to, func() error { return w.Disk.RenameNew(ctx, from, to) })
}

// watched returns a disk that counts after how many calls there was an empty lock.
func watched(m *memory, empty *int) dirs.Disk {
	hook := func(o faulty.Call) error {
		err := o.Do()
		if all := m.All(); slices.Contains(all, "L") && !slices.ContainsFunc(all, func(name string) bool { return name > "L/" && name < "L0" }) {
			*empty++
		}
		return err
	}
	return watchedDisk{diskMemory{m}, hook}
}

// TestTakenInOneStep: a process that is killed while it takes the lock leaves no empty lock.
func TestTakenInOneStep(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		empty := 0
		a := newHost("A", watched(m, &empty), plain)
		h := a.take(t, "exclusive")
		mustBeHeldBy(t, a.want(t, "exclusive"), h)
		if empty > 0 {
			t.Errorf("while it was taken, the lock was there and empty after %d calls", empty)
		}
		mustRelease(t, h)
		mustWork(t, m.Mkdir(t.Context(), "L"))
		if held := mustBeHeld(t, a.want(t, "exclusive")); held.Record != nil {
			t.Errorf("a lock taken by mkdir alone seems to be held by %+v", held)
		}
	})
}

// without is a disk that refuses to rename without replacing, like NFS.
type without struct{ diskMemory }

func (without) RenameNew(context.Context, string, string) error { return errors.ErrUnsupported }

func TestTakenInTwoSteps(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		a := newHost("A", without{diskMemory{m}}, plain)
		h := a.take(t, "exclusive")
		mustRelease(t, h)
		mustBeTidy(t, m, plain)
	})
}

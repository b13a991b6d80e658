//go:build unix

package nfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestOutOfInodes: there is room for some of what a lock needs, but not for all.
func TestOutOfInodes(t *testing.T) {
	needRoot(t)
	for _, mode := range modes() {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, " used before: ", used), func(t *testing.T) {
				dir := backendtest.Memory(t, "nr_inodes=60")
				path := filepath.Join(dir, "lock")
				if used {
					mustWork(t, try(t, path, mode))
				}
				for spare := 0; withSpareInodes(t, path, mode, spare) != nil; spare++ {
					if spare > 20 {
						t.Fatal("no number of inodes is enough")
					}
				}
			})
		}
	}
}

// withSpareInodes tries to take the lock while only so many inodes are left, and returns the
// error. It makes sure that this is a good error.
func withSpareInodes(t *testing.T, path, mode string, spare int) error {
	t.Helper()
	filler := filepath.Join(filepath.Dir(path), "filler")
	backendtest.UseUpInodes(t, filler, spare)
	err := try(t, path, mode)
	mustWork(t, os.RemoveAll(filler))
	if err != nil {
		mustFail(t, err, protocol.CannotCreate, "free some space")
		mustBeTidy(t, path)
		mustWork(t, try(t, path, mode)) // with room again, the lock works
	}
	mustBeTidy(t, path)
	return err
}

// TestDiskFullUnderHolder: heartbeats and release need no room.
func TestDiskFullUnderHolder(t *testing.T) {
	dir := backendtest.Memory(t, "nr_inodes=60,size=256k")
	path := filepath.Join(dir, "lock")
	for _, mode := range modes() {
		h := mustHold(t, attemptAt(t, path, mode))
		fill(t, filepath.Join(dir, "filler"))
		mustStillHold(t, h)
		mustWork(t, h.Tend(t.Context()))
		mustRelease(t, h)
		mustBeTidy(t, path)
		mustWork(t, os.RemoveAll(filepath.Join(dir, "filler")))
	}
}

// fill leaves neither room nor inodes.
func fill(t *testing.T, dir string) {
	t.Helper()
	mustWork(t, os.Mkdir(dir, 0o755))
	for n := 0; ; n++ {
		err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), make([]byte, 8192), 0o644)
		if errors.Is(err, unix.ENOSPC) && n > 100 {
			return
		}
		if err != nil && !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	dir := backendtest.Memory(t)
	path, fresh := filepath.Join(dir, "lock"), filepath.Join(dir, "fresh")
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	backendtest.Remount(t, dir, unix.MS_RDONLY)
	mustFail(t, try(t, fresh, "exclusive"), protocol.CannotCreate, "read-only")
	mustFail(t, try(t, path, "exclusive"), protocol.CannotCreate, "read-only")
	if err := h.Heartbeat(t.Context()); !errors.Is(err, unix.EROFS) || errors.Is(err, backend.ErrGone) {
		t.Errorf("the heartbeat on a read-only disk: %v, want EROFS, and no loss", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, unix.EROFS) {
		t.Errorf("the release on a read-only disk: %v, want EROFS", err)
	}
	if r := inspect(t, path); len(r.Holders) != 1 {
		t.Errorf("Read on a read-only disk sees %+v, want one holder", r)
	}
	backendtest.Remount(t, dir, 0)
	mustRelease(t, h)
	mustBeTidy(t, path)
}

// TestFileSystems: a lock works on each file system that may be under a directory that hosts
// share.
func TestFileSystems(t *testing.T) {
	for name, mkfs := range map[string][]string{
		"ext4":                     {"mkfs.ext4", "-q"},
		"ext4 without dir_nlink":   {"mkfs.ext4", "-q", "-O", "^dir_nlink"},
		"ext4 with 128-byte inode": {"mkfs.ext4", "-q", "-I", "128"}, // times of whole seconds
		"xfs":                      {"mkfs.xfs", "-q"},
		"btrfs":                    {"mkfs.btrfs", "-q"}, // link counts that do not count subdirectories
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			size := "320M"
			if kind == "ext4" {
				size = "16M"
			}
			worksAt(t, filepath.Join(backendtest.Image(t, kind, size, mkfs...), "lock"))
		})
	}
}

// worksAt goes through everything that a lock does.
func worksAt(t *testing.T, path string) {
	t.Helper()
	for _, mode := range modes() {
		h := mustHold(t, attemptAt(t, path, mode))
		mustStillHold(t, h)
		waiters := []backend.Attempt{attemptAt(t, path, "exclusive"), attemptAt(t, path, "exclusive")}
		for _, a := range waiters {
			mustBeHeld(t, a)
		}
		if r := inspect(t, path); len(r.Holders) != 1 || len(r.Waiters) != 2 || r.Token != h.Token() {
			t.Errorf("Read sees %+v, want one holder with its token, and two waiters", r)
		}
		mustRelease(t, h)
		for _, a := range waiters {
			mustRelease(t, mustAcquire(t, a))
		}
	}
	mustBeTidy(t, path)
}

// TestSmallBlocks: a small block has room for a short record only.
func TestSmallBlocks(t *testing.T) {
	path := filepath.Join(backendtest.Image(t, "ext4", "8M", "mkfs.ext4", "-q", "-b", "1024"), "lock")
	worksAt(t, path)
	r := requestFor("exclusive")
	r.Owner.Meta = append(r.Owner.Meta, protocol.Field{Key: "long", Value: strings.Repeat("x", 1024)})
	a, err := openLock(t, path).Attempt(r)
	mustWork(t, err)
	_, err = a.Try(t.Context())
	mustFail(t, err, protocol.Usage, "shorten the metadata")
	mustBeTidy(t, path)
}

// TestNoSymbolicLinks: a file system without symbolic links is refused.
func TestNoSymbolicLinks(t *testing.T) {
	path := filepath.Join(backendtest.Image(t, "vfat", "8M", "mkfs.vfat"), "lock")
	mustFail(t, try(t, path, "exclusive"), protocol.CannotCreate, "no symbolic links")
}

//go:build unix

package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func mkdirBelow(dir, name string) error {
	return Below(dir, name, func(fd int, base string) error { return unix.Mkdirat(fd, base, 0o755) })
}

// TestBelow: the directory itself may be reached by a link, but nothing below it.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(in("locks/a/b"), 0o755), os.Symlink("locks", in("alias")), os.Mkdir(in("victim"), 0o755),
		os.Symlink("../victim", in("locks/planted")), os.Symlink("../../victim", in("locks/a/planted")), os.Symlink("gone", in("locks/dangling"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"x": nil, "a/x": nil, "a/b/x": nil, "a": unix.EEXIST, "planted": unix.EEXIST, "none/x": unix.ENOENT,
		"planted/x": unix.ENOTDIR, "a/planted/x": unix.ENOTDIR, "dangling/x": unix.ENOTDIR,
	} {
		if err := mkdirBelow(in("alias"), name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if left, err := os.ReadDir(in("victim")); err != nil || len(left) > 0 {
		t.Errorf("the victim has %v, %v", left, err)
	}
}

// TestBelowOnceMore: a directory that was replaced is looked up again, once.
func TestBelowOnceMore(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, stale := range []int{1, 2} {
		calls := 0
		err := Below(dir, "a/x", func(int, string) error {
			if calls++; calls <= stale {
				return unix.ESTALE
			}
			return nil
		})
		if calls != 2 || errors.Is(err, unix.ESTALE) != (stale == 2) {
			t.Errorf("stale %d times: %d calls, %v", stale, calls, err)
		}
	}
}

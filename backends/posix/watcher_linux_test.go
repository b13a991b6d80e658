package posix

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func readable(t *testing.T, fd int) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestOnePathAtATime: neither an old event nor the end of a replaced watch is taken for an event
// of the new path.
func TestOnePathAtATime(t *testing.T) {
	var w Inotify
	defer w.Close()
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{a, b} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	watch := func(path string) int {
		t.Helper()
		fd, err := w.Watch(path, unix.IN_DELETE_SELF)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	watch(a)
	if fd := watch(b); readable(t, fd) {
		t.Error("an event of the path that was watched before")
	}
	fd := watch(a)
	_ = os.Remove(b)
	if readable(t, fd) {
		t.Error("an event of a path that is not watched")
	}
	_ = os.Remove(a)
	if !readable(t, fd) {
		t.Error("no event of the path that is watched")
	}
	if _, err := w.Watch(a, unix.IN_DELETE_SELF); !errors.Is(err, unix.ENOENT) {
		t.Errorf("watching a missing path: %v", err)
	}
	_ = os.Mkdir(a, 0o755)
	if fd := watch(a); readable(t, fd) {
		t.Error("an event after the path came back")
	}
}

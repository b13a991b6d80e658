package posix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
	"locksmith/test/lab"
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

// TestAwaitWithoutDescriptors: if no descriptor is left, a waiter sleeps all the same.
func TestAwaitWithoutDescriptors(t *testing.T) {
	defer lab.FewDescriptors(t, 0)()
	var w Notifier
	const d = 50 * time.Millisecond
	begun := time.Now()
	w.Await(t.Context(), "/", process.Process{}, d)
	if after := time.Since(begun); after < d {
		t.Errorf("without a descriptor Await returns after %v, want %v", after, d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun = time.Now()
	w.Await(ctx, "/", process.Process{}, time.Minute)
	if after := time.Since(begun); after > time.Minute/2 {
		t.Errorf("Await goes on for %v after its context", after)
	}
}

package process

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// TestEndOfWhatCannotBeWatched: the end of a process is noticed even if the kernel refuses to watch
// its descriptor for the runtime.
func TestEndOfWhatCannotBeWatched(t *testing.T) {
	cmd, p := start(t)
	done := p.ended(t.Context(), unwatchable(t))
	select {
	case <-done:
		t.Fatal("exit reported of a running process")
	case <-time.After(20 * time.Millisecond):
	}
	ctx, cancel := context.WithCancel(t.Context())
	never := p.ended(ctx, unwatchable(t))
	time.Sleep(20 * time.Millisecond)
	cancel()
	_ = cmd.Process.Kill()
	select {
	case <-done:
	case <-time.After(lab.Patience):
		t.Error("the end of a process is not noticed")
	}
	select {
	case <-never:
		t.Error("a cancelled watch reports an exit")
	default:
	}
}

// unwatchable returns a descriptor that never becomes readable, and that epoll refuses to watch: an
// epoll that watches one that watches another, as deep as the kernel allows.
func unwatchable(t *testing.T) int {
	t.Helper()
	inner := -1
	for range 100 {
		fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		if inner < 0 {
			inner = fd
			continue
		}
		if unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, inner, &unix.EpollEvent{Events: unix.EPOLLIN}) != nil {
			CloseFD(fd)
			if err := unix.SetNonblock(inner, true); err != nil {
				t.Fatal(err)
			}
			return inner
		}
		unwatched := inner
		t.Cleanup(func() { CloseFD(unwatched) })
		inner = fd
	}
	t.Fatal("epoll watches epoll without end")
	return NoFD
}

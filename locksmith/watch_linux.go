package locksmith

import (
	"context"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// The kernel always reports POLLERR and POLLHUP. POLLRDHUP is the shutdown of a socket's other
// direction, which is how Node ends a child's input.
const pollFor, pollGone = unix.POLLRDHUP, unix.POLLRDHUP | unix.POLLHUP | unix.POLLERR

// Hangup returns when the other end of a pipe or socket is gone: an end for reading, when nobody
// can write to it any more; an end for writing, when nobody reads. It never reads a byte, and
// bytes that arrive do not wake it. It does not change the mode of the descriptor, which others
// may share. It costs no thread. If the system has no descriptor, memory or watch for it, it looks now
// and then: a helper that cannot see its parent let go would keep the lock for as long as the parent
// lives.
func Hangup(ctx context.Context, f *os.File) error {
	err := sleepToHangup(ctx, f)
	if err == nil || ctx.Err() != nil || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EBADF) { // the last two: f can never hang up
		return err
	}
	return lookForHangup(ctx, f)
}

// sleepToHangup is Hangup if the kernel wakes it.
func sleepToHangup(ctx context.Context, f *os.File) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP} // see pollFor
	err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(f.Fd()), &event)
	if err == nil {
		err = unix.SetNonblock(epoll, true)
	}
	if err != nil {
		_ = unix.Close(epoll)
		return os.NewSyscallError("epoll_ctl", err)
	}
	return process.Readable(ctx, epoll)
}

// askForDeathSignal asks the kernel for a signal when the thread that forked us exits. The parent
// need not have exited then (PR_SET_PDEATHSIG(2const)).
func askForDeathSignal(s syscall.Signal) error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(s), 0, 0, 0)
}

package locksmith

import (
	"context"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// pollFor returns what to poll f for, and which events tell a hang-up. The kernel always reports
// POLLERR and POLLHUP. POLLRDHUP tells that the other end of a socket will write no more, which is
// how Node ends a child's input. Who reads our output may say so at once, as ksh93 does. Over TCP
// nothing else tells that the other end was closed.
func pollFor(f *os.File, input bool) (events, gone int16) {
	if !input {
		domain, err := unix.GetsockoptInt(int(f.Fd()), unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err == nil && domain == unix.AF_UNIX {
			return 0, unix.POLLHUP | unix.POLLERR
		}
	}
	return unix.POLLRDHUP, unix.POLLRDHUP | unix.POLLHUP | unix.POLLERR
}

// Hangup returns when the other end of a pipe or socket is gone: of an input, when nobody
// can write to it any more; of an output, when nobody reads. It never reads a byte, and
// bytes that arrive do not wake it. It does not change the mode of the descriptor, which others
// may share. It costs no thread. If the system has no descriptor, memory or watch for it, it looks now
// and then: a helper that cannot see its parent let go would keep the lock for as long as the parent
// lives.
func Hangup(ctx context.Context, f *os.File, input bool) error {
	err := sleepToHangup(ctx, f, input)
	if err == nil || ctx.Err() != nil || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EBADF) { // the last two: f can never hang up
		return err
	}
	return lookForHangup(ctx, f, input)
}

// sleepToHangup is Hangup if the kernel wakes it.
func sleepToHangup(ctx context.Context, f *os.File, input bool) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	events, _ := pollFor(f, input)
	event := unix.EpollEvent{Events: uint32(events)} // the same bits
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

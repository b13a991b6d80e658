package process

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// NoFD stands for no descriptor. Poll leaves it out.
const NoFD = -1

// CloseFD closes a descriptor, unless it is NoFD.
func CloseFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// Open returns a descriptor that becomes readable when p has ended, or -1 if p has ended already.
// The caller closes it.
func (p Process) Open() (int, error) {
	if p.Lifeline != "" {
		return p.reach()
	}
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return -1, nil
	}
	if err != nil {
		return -1, os.NewSyscallError("pidfd_open", err)
	}
	// From now on the pid is pinned. Before, another process may have got it.
	if p.Gone() {
		return -1, unix.Close(fd)
	}
	return fd, nil
}

func exited(ctx context.Context, p Process) (<-chan struct{}, error) {
	fd, err := p.Open()
	if err != nil {
		return nil, err
	}
	if fd < 0 {
		done := make(chan struct{})
		close(done)
		return done, nil
	}
	return p.ended(ctx, fd), nil
}

// ended returns a channel that is closed when p has ended. It takes over fd, which tells that.
func (p Process) ended(ctx context.Context, fd int) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		if Readable(ctx, fd) == nil || p.goneWithin(ctx) {
			close(done)
		}
	}()
	return done
}

// goneWithin looks again and again whether p has ended, and reports whether it did before ctx. That
// is for a descriptor that the kernel refuses to watch for the runtime (epoll_ctl(2), ENOSPC and
// ENOMEM).
func (p Process) goneWithin(ctx context.Context) bool {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for ctx.Err() == nil {
		if p.Gone() {
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
	return false
}

// Readable takes over a pollable, non-blocking descriptor. It returns when poll reports anything
// on it or when ctx ends, and closes it. It parks a goroutine, not a thread.
func Readable(ctx context.Context, fd int) error {
	f := os.NewFile(uintptr(fd), "watched descriptor")
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return n > 0 && err == nil
	})
	if err != nil && ctx.Err() != nil { // the end of ctx has closed f
		return ctx.Err()
	}
	return err
}

// Poll blocks in one poll(2) until one of the descriptors is readable, and returns nil. If ctx
// ends first, it returns ctx's error. It leaves out negative descriptors. It costs a thread but
// no goroutine, and begins and ends more quickly than Readable. One thread in a process is
// enough: a Poll beside another works as Readable does.
func Poll(ctx context.Context, fds ...int) error { return poll(ctx, nil, fds) }

// PollFor is Poll, but also returns nil after d. The time of a suspend does not count.
func PollFor(ctx context.Context, d time.Duration, fds ...int) error {
	timeout := unix.NsecToTimespec(int64(max(d, 0)))
	return poll(ctx, &timeout, fds)
}

// polls is how many calls of poll are under way in this process.
var polls atomic.Int32

func poll(ctx context.Context, timeout *unix.Timespec, fds []int) error {
	defer polls.Add(-1)
	if polls.Add(1) > 1 {
		return pollParked(ctx, timeout, fds)
	}
	return pollBlocked(ctx, timeout, fds)
}

// pollParked keeps no thread: the runtime polls one descriptor that stands for all.
func pollParked(outer context.Context, timeout *unix.Timespec, fds []int) error {
	ctx := outer
	if timeout != nil {
		limited, cancel := context.WithTimeout(outer, time.Duration(timeout.Nano()))
		defer cancel()
		ctx = limited
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	for _, fd := range fds {
		if fd >= 0 && err == nil {
			err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
		}
	}
	if err == nil {
		err = unix.SetNonblock(epoll, true)
	}
	if err != nil {
		_ = unix.Close(epoll)
		return os.NewSyscallError("epoll_ctl", err)
	}
	if err = Readable(ctx, epoll); err != nil && ctx.Err() != nil {
		return outer.Err() // nil if the timeout is over
	}
	return err
}

func pollBlocked(ctx context.Context, timeout *unix.Timespec, fds []int) error {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	defer unix.Close(wake)
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	defer func() {
		if !stop() {
			<-woken // wake must not be closed earlier
		}
	}()
	polled := []unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}}
	for _, fd := range fds {
		polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for {
		_, err := unix.Ppoll(polled, timeout, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return os.NewSyscallError("poll", err)
		case polled[0].Revents != 0:
			return ctx.Err()
		}
		return nil
	}
}

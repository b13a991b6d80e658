//go:build darwin || freebsd || netbsd || openbsd

package process

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A Queue is a kqueue(2): it sleeps until one of several things happens.
type Queue struct {
	fd   int
	wake [2]int // a pipe that ends the sleep
}

// NewQueue returns an empty queue. Close frees it.
func NewQueue() (*Queue, error) {
	q := &Queue{}
	if err := unix.Pipe(q.wake[:]); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	fd, err := unix.Kqueue()
	if err != nil {
		_, _ = unix.Close(q.wake[0]), unix.Close(q.wake[1])
		return nil, os.NewSyscallError("kqueue", err)
	}
	q.fd = fd
	for _, fd := range append(q.wake[:], fd) {
		unix.CloseOnExec(fd)
	}
	if err := q.Add(q.wake[0], unix.EVFILT_READ, 0); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// Close frees the queue. Nobody may be waiting.
func (q *Queue) Close() { _, _, _ = unix.Close(q.fd), unix.Close(q.wake[0]), unix.Close(q.wake[1]) }

// Add watches an event of a descriptor or process from now on. Of a state that lasts
// it is told once, and again when it changes.
func (q *Queue) Add(ident, filter int, notes uint32) error {
	change := unix.Kevent_t{Fflags: notes}
	unix.SetKevent(&change, ident, filter, unix.EV_ADD|unix.EV_CLEAR)
	for {
		_, err := unix.Kevent(q.fd, []unix.Kevent_t{change}, nil, nil)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("kevent", err)
		}
	}
}

// AddExit watches for the end of p, which is false if it has ended already.
func (q *Queue) AddExit(p Process) (lives bool, err error) {
	err = q.Add(p.PID, unix.EVFILT_PROC, unix.NOTE_EXIT)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	// Only now is the pid pinned: it may have been another's already.
	return err == nil && !p.Gone(), err
}

// Wait sleeps until something happens, or ctx ends. It costs a thread.
func (q *Queue) Wait(ctx context.Context) (unix.Kevent_t, error) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_, _ = unix.Write(q.wake[1], []byte{0})
	})
	defer func() {
		if !stop() {
			<-woken // before it is closed
		}
	}()
	var got [1]unix.Kevent_t
	for ctx.Err() == nil {
		n, err := unix.Kevent(q.fd, nil, got[:], nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return got[0], os.NewSyscallError("kevent", err)
		}
		if n > 0 && int(got[0].Ident) != q.wake[0] {
			return got[0], nil
		}
	}
	return got[0], ctx.Err()
}

//go:build darwin || freebsd || netbsd || openbsd

package process

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Hangup returns when the other end of a pipe or socket is gone: for reading,
// when nobody can write to it any more, for writing, when nobody reads. It
// never reads a byte, and leaves the mode of the descriptor, which others may
// share, alone.
func Hangup(ctx context.Context, f *os.File) error {
	q, err := NewQueue()
	if err != nil {
		return err
	}
	defer q.Close()
	fd := int(f.Fd())
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	filter := unix.EVFILT_READ // of a socket, too: its other side is shut down as a whole
	if mode&unix.O_ACCMODE == unix.O_WRONLY {
		filter = unix.EVFILT_WRITE
	}
	err = q.Add(fd, filter, 0)
	if errors.Is(err, unix.EPIPE) { // nobody reads already
		return nil
	}
	for err == nil {
		var happened unix.Kevent_t
		happened, err = q.Wait(ctx)
		if err == nil && happened.Flags&unix.EV_EOF != 0 {
			return nil
		}
	}
	return err
}

// DeathSignal is not to be had here.
func DeathSignal(unix.Signal) error { return errors.ErrUnsupported }

// Adopt is not to be had here.
func Adopt() error { return errors.ErrUnsupported }

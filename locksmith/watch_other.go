//go:build unix && !linux

package locksmith

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hangupLook is how often Hangup looks.
const hangupLook = 100 * time.Millisecond

// Hangup returns when the other end of a pipe or socket is gone: for reading, when
// nobody can write to it any more, for writing, when nobody reads. It never reads a
// byte, and leaves the mode of the descriptor, which others may share, alone.
func Hangup(ctx context.Context, f *os.File) error {
	ticker := time.NewTicker(hangupLook)
	defer ticker.Stop()
	// macOS tells of a hang-up only those who ask for something.
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN | unix.POLLOUT}}
	for {
		_, err := unix.Poll(fds, 0)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return os.NewSyscallError("poll", err)
		case err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0:
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// askForDeathSignal: there is none here.
func askForDeathSignal(syscall.Signal) error { return errors.ErrUnsupported }

//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stat knows no start times here: a pid that is used again counts as alive.
func stat(pid int) (start uint64, ended bool, err error) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return 0, false, ErrNoProcess
	}
	return 0, false, nil
}

// exited leaves it to the caller to ask again and again.
func exited(context.Context, Process) (<-chan struct{}, error) { return nil, errors.ErrUnsupported }

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

// DeathSignal is not to be had here.
func DeathSignal(unix.Signal) error { return errors.ErrUnsupported }

// Adopt is not to be had here.
func Adopt() error { return errors.ErrUnsupported }

//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Hangup returns when the other end of a pipe or socket is gone, without
// reading a byte. Here it looks once a second.
func Hangup(ctx context.Context, f *os.File) error {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	for ctx.Err() == nil {
		n, err := unix.Poll(fds, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// DeathSignal is not to be had here.
func DeathSignal(unix.Signal) error { return errors.ErrUnsupported }

// Adopt is not to be had here.
func Adopt() error { return errors.ErrUnsupported }

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

// macOS reports a hang-up only to those who poll for something.
const pollFor, pollGone = unix.POLLIN | unix.POLLOUT, unix.POLLHUP | unix.POLLERR | unix.POLLNVAL

// Hangup returns when the other end of a pipe or socket is gone: an end for reading, when nobody
// can write to it any more; an end for writing, when nobody reads. It never reads a byte, and
// does not change the mode of the descriptor, which others may share.
func Hangup(ctx context.Context, f *os.File) error {
	ticker := time.NewTicker(hangupLook)
	defer ticker.Stop()
	for {
		if gone, err := hungUp(f); gone || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// askForDeathSignal is not supported here.
func askForDeathSignal(syscall.Signal) error { return errors.ErrUnsupported }

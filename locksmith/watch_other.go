//go:build unix && !linux

package locksmith

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// macOS reports a hang-up only to those who poll for something.
const pollFor, pollGone = unix.POLLIN | unix.POLLOUT, unix.POLLHUP | unix.POLLERR | unix.POLLNVAL

// askForDeathSignal is not supported here.
func askForDeathSignal(syscall.Signal) error { return errors.ErrUnsupported }

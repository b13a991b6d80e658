//go:build unix && !linux

package locksmith

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pollFor returns what to poll for, and which events tell a hang-up. macOS reports a hang-up only to
// those who poll for something.
func pollFor(*os.File, bool) (events, gone int16) {
	return unix.POLLIN | unix.POLLOUT, unix.POLLHUP | unix.POLLERR | unix.POLLNVAL
}

// askForDeathSignal is not supported here.
func askForDeathSignal(syscall.Signal) error { return errors.ErrUnsupported }

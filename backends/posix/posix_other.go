//go:build unix && !linux

package posix

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const pathOnly = unix.O_RDONLY

// readNames lists an open directory, and closes it.
func readNames(fd int, name string) ([]string, error) {
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return names, Errno(err)
}

func served(int) bool { return false }

// Errno returns the system's own error in an error of package os.
func Errno(err error) error {
	var n unix.Errno
	if errors.As(err, &n) {
		return n
	}
	return err
}

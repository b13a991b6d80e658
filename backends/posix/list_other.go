//go:build unix && !linux

package posix

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// List returns the names in a directory, without "." and "..". It opens the
// directory anew each time: on NFS, a descriptor that is rewound shows what is up
// to half a minute old. Its errors are the system's.
func List(path string) ([]string, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, Errno(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return names, Errno(err)
}

// Errno is the system's own error in one of package os.
func Errno(err error) error {
	var n unix.Errno
	if errors.As(err, &n) {
		return n
	}
	return err
}

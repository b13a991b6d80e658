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
func List(path string) ([]string, error) { return ListAt(unix.AT_FDCWD, path) }

// ListAt is List of a name in a directory.
func ListAt(at int, name string) ([]string, error) {
	fd, err := openDirectory(at, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
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

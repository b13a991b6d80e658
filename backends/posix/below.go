//go:build unix

package posix

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Below makes a call on a name below a directory that the user named: on the last
// part of the name, in the directory that fd is. None of the parts between may be a
// symbolic link (ENOTDIR): who may write there could lead us elsewhere with it, and
// have us make or remove what we may and he may not.
//
// As with a path, a call that meets a directory that was replaced meanwhile (ESTALE,
// on NFS) is made once more.
func Below(dir, name string, call func(fd int, base string) error) error {
	parents, base := path.Split(name)
	if parents == "" {
		return call(unix.AT_FDCWD, dir+"/"+name)
	}
	err := below(dir, parents, base, call)
	if errors.Is(err, unix.ESTALE) {
		err = below(dir, parents, base, call)
	}
	return err
}

func below(dir, parents, base string, call func(fd int, base string) error) error {
	fd, err := open(unix.AT_FDCWD, dir, pathOnly|unix.O_DIRECTORY) // this one may be a link
	for parent := range strings.SplitSeq(strings.TrimSuffix(parents, "/"), "/") {
		if err != nil {
			return err
		}
		var next int
		next, err = openDirectory(fd, parent, pathOnly)
		_ = unix.Close(fd)
		fd = next
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return call(fd, base)
}

// openDirectory opens a directory that is not a symbolic link.
func openDirectory(at int, name string, flags int) (int, error) {
	return open(at, name, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW)
}

func open(at int, name string, flags int) (fd int, err error) {
	err = RetryEINTR(func() (err error) {
		fd, err = unix.Openat(at, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

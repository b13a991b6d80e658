package finder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
	"locksmith/protocol"
)

// A FileTree is a Tree on a file system.
type FileTree struct {
	Root    string // a directory, or a symbolic link to one
	Address string // of it, for messages
}

var _ Tree = FileTree{}

func (t FileTree) at(path string) string {
	if path == "" {
		return posix.Within(t.Root)
	}
	return t.Root + path
}

// List implements Tree.
func (t FileTree) List(_ context.Context, path string) ([]Entry, error) {
	f, err := os.OpenFile(t.at(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, t.fail(path, err)
	}
	defer f.Close()
	var all []Entry
	for {
		some, err := f.ReadDir(1000)
		for _, e := range some {
			all = append(all, Entry{e.Name(), typeOf(e.Type())})
		}
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, t.fail(path, err)
		}
	}
}

func typeOf(m fs.FileMode) Type {
	switch {
	case m.IsDir():
		return Subdirectory
	case m.IsRegular():
		return RegularFile
	}
	return Other
}

// Read implements Tree. It neither follows a link nor waits for anything.
func (t FileTree) Read(path string) Content {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	var fd int
	err := posix.RetryEINTR(func() (err error) {
		fd, err = unix.Open(t.at(path), flags, 0)
		return err
	})
	if err != nil {
		return Content{Sticky: sticky(t.at(path)), Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := posix.RetryEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Content{Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return Content{Err: unix.EINVAL}
	}
	c := Content{Sticky: st.Mode&unix.S_ISVTX != 0, Err: unix.EFBIG}
	if st.Size <= MaxText {
		c.Text, c.Err = posix.Read(fd, int(st.Size))
	}
	return c
}

func sticky(path string) bool {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Lstat(path, &st) })
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&unix.S_ISVTX != 0
}

// fail explains why a directory cannot be listed.
func (t FileTree) fail(path string, err error) error {
	var cause syscall.Errno
	if errors.As(err, &cause) {
		err = cause // without the path, which is told once
	}
	e := backend.FileError(backend.Below(t.Address, path), "list the directory", err)
	switch {
	case errors.Is(err, unix.ENOTDIR):
		e.Hint = "name a directory; of one lock tells: locksmith status"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "run it as somebody who may read there"
	case slices.Contains([]syscall.Errno{unix.EIO, unix.ETIMEDOUT, unix.ESTALE, unix.EHOSTDOWN}, cause):
		e.Code, e.Hint = protocol.Unreachable, "look at the server and the mount, then try again"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "correct the path"
	}
	return e
}

// gone reports that what was listed is not there any more, or is something else now.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

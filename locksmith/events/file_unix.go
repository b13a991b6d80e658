//go:build unix

package events

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A sink is a descriptor that is open for appending.
type sink int

// Append opens a file. If there is none, it makes one with mode 0644. It refuses a symbolic link,
// and a FIFO that nobody reads. A FIFO that is full refuses writes.
func Append(path string) (*Writer, error) {
	fd, err := open(path, unix.O_APPEND)
	if err != nil {
		return nil, err
	}
	return &Writer{to: sink(fd)}, nil
}

// Create opens a file to be written anew, as Append opens it: another user may have put a link or a
// FIFO there.
func Create(path string) (*os.File, error) {
	fd, err := open(path, unix.O_TRUNC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(fd, false) // who reads a FIFO may be slow
	return os.NewFile(uintptr(fd), path), nil
}

func open(path string, how int) (fd int, err error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	for {
		fd, err := unix.Open(path, flags|how, 0o644)
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENXIO):
			err = errors.New("nobody reads this FIFO")
		case errors.Is(err, unix.ELOOP):
			err = errors.New("it is a symbolic link")
		}
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

// Inherit takes over a descriptor that this process was started with. No child of ours inherits
// it.
func Inherit(fd int) (*Writer, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	// A descriptor with close-on-exec did not come through an exec: it is our own.
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return nil, fmt.Errorf("descriptor %d is not open", fd)
	}
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, fmt.Errorf("descriptor %d is not open for writing", fd)
	}
	unix.CloseOnExec(fd)
	return &Writer{to: sink(fd)}, nil
}

func (s sink) write(line []byte) (int, error) {
	for {
		n, err := unix.Write(int(s), line)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (s sink) close() error { return unix.Close(int(s)) }

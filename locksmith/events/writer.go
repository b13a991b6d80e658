package events

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// A Writer appends events to a file that others may append to as well. It is not
// for concurrent use. A write to a dead file server may hang.
type Writer struct {
	fd   int
	torn bool // part of a line was written last
}

// Append opens a file, and makes it with mode 0644 if there is none. A symbolic
// link is refused, and so is a FIFO that nobody reads; one that is full refuses
// writes.
func Append(path string) (*Writer, error) {
	const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	for {
		fd, err := unix.Open(path, flags, 0o644)
		switch {
		case err == nil:
			return &Writer{fd: fd}, nil
		case errors.Is(err, unix.ENXIO):
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("nobody reads this FIFO")}
		case errors.Is(err, unix.ELOOP):
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a symbolic link")}
		case !errors.Is(err, unix.EINTR):
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// Inherit takes over a descriptor that this process was started with, and lets no
// child inherit it in turn.
func Inherit(fd int) (*Writer, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	// What is closed on exec cannot have come through one: it is our own.
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return nil, fmt.Errorf("descriptor %d is not open", fd)
	}
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, fmt.Errorf("descriptor %d is not open for writing", fd)
	}
	unix.CloseOnExec(fd)
	return &Writer{fd: fd}, nil
}

// Write appends an event.
func (w *Writer) Write(e Event) error {
	line, err := e.Format()
	if err != nil {
		return err
	}
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.write(line)
	if n > 0 {
		w.torn = n < len(line)
	}
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

func (w *Writer) write(line []byte) (int, error) {
	for {
		n, err := unix.Write(w.fd, line)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// Close closes the file.
func (w *Writer) Close() error { return unix.Close(w.fd) }

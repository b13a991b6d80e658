//go:build unix

package local

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

type descriptor = int

// unfinishedMark is set in the mode at creation. Its only use is to tell a file
// of ours whose maker died before it wrote the record from another tool's.
const unfinishedMark = unix.S_ISVTX

func create(path string) (*file, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	return open(path, flags, 0o644|unfinishedMark)
}

// openExisting opens what is there for reading. It neither follows a link nor
// blocks on a FIFO, and returns notRegularError for what is not a file.
func openExisting(path string) (*file, error) {
	f, err := open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.fstat()
	if err == nil {
		err = regular(uint32(st.Mode))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func open(path string, flags int, mode uint32) (*file, error) {
	f := &file{path: path}
	err := posix.RetryEINTR(func() (err error) {
		f.fd, err = unix.Open(path, flags, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func regular(mode uint32) error {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFDIR:
		return notRegularError("a directory")
	case unix.S_IFIFO:
		return notRegularError("a FIFO")
	}
	return notRegularError("not a regular file")
}

func (f *file) fstat() (st unix.Stat_t, err error) {
	err = posix.RetryEINTR(func() error { return unix.Fstat(f.fd, &st) })
	return st, err
}

func (f *file) stat() (status, error) {
	st, err := f.fstat()
	return statusOf(st), err
}

// statPath is the status of what a path names itself, or errNotOurs if it names nothing.
func statPath(path string) (status, error) {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Lstat(path, &st) })
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		err = errNotOurs
	}
	return statusOf(st), err
}

func statusOf(st unix.Stat_t) status {
	return status{
		volume: uint64(st.Dev), index: st.Ino, links: uint64(st.Nlink), size: st.Size,
		modified: time.Unix(st.Mtim.Unix()), marked: uint32(st.Mode)&unfinishedMark != 0,
	}
}

// tryLock takes the kernel lock if nobody has it.
func (f *file) tryLock() (bool, error) {
	err := posix.RetryEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func (f *file) unlink() error {
	return posix.RetryEINTR(func() error { return unix.Unlink(f.path) })
}

func (f *file) write(text string) error        { return posix.Write(f.fd, text) }
func (f *file) text(limit int) (string, error) { return posix.Read(f.fd, limit) }

func (f *file) close() { _ = unix.Close(f.fd) } // not repeated: EINTR has closed it too (close(2))

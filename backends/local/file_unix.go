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

const createFlags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC

func create(path string) (*file, error) { return open(path, createFlags, posix.LockMode) }

// createKept makes a file as flock(1) does. Empty it says nothing of who made it.
func createKept(path string) (*file, error) { return keep(open(path, createFlags, 0o666)) }

// openKept is openExisting for writing as well.
func openKept(path string) (*file, error) { return keep(openRegular(path, unix.O_RDWR)) }

func keep(f *file, err error) (*file, error) {
	if err == nil {
		f.kept = true
	}
	return f, err
}

// openExisting opens what is there for reading. It neither follows a link nor
// blocks on a FIFO, and returns notRegularError for what is not a file.
func openExisting(path string) (*file, error) {
	return openRegular(path, unix.O_RDONLY)
}

func openRegular(path string, access int) (*file, error) {
	f, err := open(path, access|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
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
		modified: time.Unix(st.Mtim.Unix()), marked: posix.Marked(uint32(st.Mode)),
	}
}

// tryLock takes the kernel lock if nobody has it.
func (f *file) tryLock() (bool, error) { return f.flock(unix.LOCK_EX) }

// tryShared tells whether somebody has it.
func (f *file) tryShared() (bool, error) { return f.flock(unix.LOCK_SH) }

func (f *file) flock(how int) (bool, error) {
	err := posix.RetryEINTR(func() error { return unix.Flock(f.fd, how|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// refill empties a kept file, which is ours now, for a new record, and marks it as what
// it is while it has one. That is left out where it is another user's.
func (f *file) refill() error {
	f.mark(true)
	return f.truncate()
}

// empty leaves a kept file to the next one. The kernel lock goes even if somebody
// inherited the descriptor.
func (f *file) empty() error {
	if err := f.truncate(); err != nil {
		return err
	}
	f.mark(false)
	return posix.RetryEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_UN) })
}

func (f *file) truncate() error {
	return posix.RetryEINTR(func() error { return unix.Ftruncate(f.fd, 0) })
}

func (f *file) mark(on bool) {
	if st, err := f.fstat(); err == nil {
		_ = posix.RetryEINTR(func() error { return unix.Fchmod(f.fd, posix.Mark(uint32(st.Mode), on)) })
	}
}

func (f *file) unlink() error {
	return posix.RetryEINTR(func() error { return unix.Unlink(f.path) })
}

func (f *file) write(text string) error        { return posix.Write(f.fd, text) }
func (f *file) text(limit int) (string, error) { return posix.Read(f.fd, limit) }

func (f *file) close() { _ = unix.Close(f.fd) } // not repeated: EINTR has closed it too (close(2))

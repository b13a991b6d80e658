package local

import (
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
	"locksmith/protocol"
)

// A file is an open lock file. The descriptor is never inherited: a child that
// had it would keep the kernel lock alive.
type file struct {
	fd   int
	path string
}

// unfinishedMark is set in the mode at creation. Its only use is to tell a file
// of ours whose maker died before it wrote the record from another tool's.
const unfinishedMark = unix.S_ISVTX

var errNotOurs = errors.New("the path names another file")

type notRegularError string

func (e notRegularError) Error() string { return "it is " + string(e) }

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
	st, err := f.stat()
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

func (f *file) stat() (st unix.Stat_t, err error) {
	err = posix.RetryEINTR(func() error { return unix.Fstat(f.fd, &st) })
	return st, err
}

// tryLock takes the kernel lock if nobody has it.
func (f *file) tryLock() (bool, error) {
	err := posix.RetryEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// named returns nil if the path names this very file, errNotOurs if it names
// another or none.
func (f *file) named() error {
	mine, err := f.stat()
	if err != nil {
		return err
	}
	var st unix.Stat_t
	err = posix.RetryEINTR(func() error { return unix.Lstat(f.path, &st) })
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return errNotOurs
	case err != nil:
		return err
	case st.Dev != mine.Dev || st.Ino != mine.Ino:
		return errNotOurs
	}
	return nil
}

// remove unlinks the path if it names this file, and lets the kernel lock go
// only then. The caller has the kernel lock. After errNotOurs, too, the file is
// closed; after any other error it is still open and locked.
func (f *file) remove() error {
	err := f.named()
	if err == nil {
		err = posix.RetryEINTR(func() error { return unix.Unlink(f.path) })
	}
	if err == nil || errors.Is(err, errNotOurs) {
		f.close()
	}
	return err
}

// read returns what the file holds, at most a byte more than a record may.
func (f *file) read() (content, error) {
	st, err := f.stat()
	if err != nil {
		return content{}, err
	}
	text, err := posix.Read(f.fd, maxContent+1)
	if err != nil {
		return content{}, err
	}
	c := content{stat: st}
	c.parse(text)
	return c, nil
}

func (f *file) close() { _ = unix.Close(f.fd) } // not repeated: EINTR has closed it too (close(2))

const maxContent = protocol.MaxLine + len("18446744073709551615\n")

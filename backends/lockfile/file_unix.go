//go:build unix

package lockfile

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

type descriptor = int

const (
	createFlags = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	openFlags   = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
)

// Create makes a file that was not there, with the mark of a lock file of ours, for
// reading and writing.
func Create(path string) (*File, error) { return open(path, unix.O_RDWR|createFlags, markedMode) }

// CreatePlain makes one as any tool does, for writing.
func CreatePlain(path string, mode uint32) (*File, error) {
	return open(path, unix.O_WRONLY|createFlags, mode)
}

// Open opens what is there for reading, whatever it is.
func Open(path string) (*File, error) { return open(path, unix.O_RDONLY|openFlags, 0) }

// OpenWritable opens what is there for reading and writing.
func OpenWritable(path string) (*File, error) { return open(path, unix.O_RDWR|openFlags, 0) }

func open(path string, flags int, mode uint32) (*File, error) {
	f := &File{path: path}
	err := posix.RetryEINTR(func() (err error) {
		f.fd, err = unix.Open(path, flags|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat returns what this kernel knows of the file; on a network file system that may be
// old. See StatServer.
func (f *File) Stat() (Stat, error) {
	st, err := f.stat()
	return statOf(st), err
}

func (f *File) stat() (st unix.Stat_t, err error) {
	err = posix.RetryEINTR(func() error { return unix.Fstat(f.fd, &st) })
	return st, err
}

// statPath is about what has a path itself.
func statPath(path string) (Stat, error) {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Lstat(path, &st) })
	return statOf(st), err
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

func statOf(st unix.Stat_t) Stat {
	return Stat{
		Dev: uint64(st.Dev), Ino: st.Ino, Links: uint64(st.Nlink), Size: st.Size,
		Modified: time.Unix(st.Mtim.Unix()), Kind: kindOf(uint32(st.Mode)), Marked: isMarked(uint32(st.Mode)),
		Own: st.Uid == 0 || st.Uid == uint32(unix.Geteuid()),
	}
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

// TryLock takes the kernel lock (flock(2)) if nobody has it.
func (f *File) TryLock() (bool, error) { return f.flock(unix.LOCK_EX) }

// TryShared takes it in common with others who do, if nobody has it alone.
func (f *File) TryShared() (bool, error) { return f.flock(unix.LOCK_SH) }

func (f *File) flock(how int) (bool, error) {
	err := posix.RetryEINTR(func() error { return unix.Flock(f.fd, how|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Unlock lets the kernel lock go, even if somebody inherited the descriptor.
func (f *File) Unlock() error {
	return posix.RetryEINTR(func() error { return unix.Flock(f.fd, unix.LOCK_UN) })
}

// Read returns what the file holds, at most limit bytes of it.
func (f *File) Read(limit int) (string, error) { return posix.Read(f.fd, limit) }

// Write writes all of text.
func (f *File) Write(text string) error { return posix.Write(f.fd, text) }

// Truncate empties the file.
func (f *File) Truncate() error {
	return posix.RetryEINTR(func() error { return unix.Ftruncate(f.fd, 0) })
}

// Mark gives a file of CreatePlain the mark, or takes it away, where it is ours.
func (f *File) Mark(on bool) {
	if st, err := f.stat(); err == nil {
		_ = f.Chmod(markMode(uint32(st.Mode), on))
	}
}

// Chmod sets the mode.
func (f *File) Chmod(mode uint32) error {
	return posix.RetryEINTR(func() error { return unix.Fchmod(f.fd, mode) })
}

// Unlink removes the path, without a look at what it leads to.
func (f *File) Unlink() error {
	return posix.RetryEINTR(func() error { return unix.Unlink(f.path) })
}

// Close is not repeated: EINTR has closed it too (close(2)). On NFS only its error tells
// that there was no room.
func (f *File) Close() error { return unix.Close(f.fd) }

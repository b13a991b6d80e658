//go:build unix && !linux

package lockfile

import (
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// markedMode is the mode of a lock file of ours, less the umask. It distinguishes an empty one, whose maker died
// before it wrote who it is, from another tool's. open(2) leaves out the sticky bit here, but
// nobody else makes a file that its owner may execute and not write. Its maker may write it all
// the same.
const markedMode = 0o544

// isMarked reports whether a file was made with that mode, whatever the umask.
func isMarked(mode uint32) bool { return mode&0o700 == 0o500 }

// IsLocked is not told here.
func (f *File) IsLocked() bool { return false }

// RecordLocker finds nobody: these kernels have one kind of lock for flock(2) and fcntl(2).
func (f *File) RecordLocker() (pid int, locked bool) { return 0, false }

// StatServer asks the cache about a path itself, because there is no way around the cache here.
// So dead holders on other machines are noticed later.
func StatServer(path string) (Stat, error) { return statPath(path) }

// StatServer is Stat here.
func (f *File) StatServer() (Stat, error) { return f.Stat() }

// Touch sets the times of the file to now.
func (f *File) Touch() error {
	return posix.RetryEINTR(func() error { return unix.Futimes(f.fd, nil) })
}

// TouchQuietly is Touch here.
func (f *File) TouchQuietly() error { return f.Touch() }

// SetTime sets the times of the file.
func (f *File) SetTime(t time.Time) error {
	tv := unix.NsecToTimeval(t.UnixNano())
	return posix.RetryEINTR(func() error { return unix.Futimes(f.fd, []unix.Timeval{tv, tv}) })
}

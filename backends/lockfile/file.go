// Package lockfile is for files that are locks. The kinds of lock that use one open, read, write
// and lock it by this package, and find out whether it is the file they mean.
//
// It does not trust what is at a path: no call follows a symbolic link there, waits for the other
// end of a FIFO, or reads more than it is asked to. Only OpenShared follows links, as flock(1) does.
// No child inherits an open file unless the file is lent, because it would keep the file's kernel
// lock alive.
//
// What a file means, and when it may be removed, is up to the kinds of lock. Errors are the
// system's own.
package lockfile

import (
	"errors"
	"time"
)

// A File is an open lock file. Its methods are called one at a time.
type File struct {
	fd      descriptor
	path    string
	follows bool // the path may be a symbolic link (OpenShared)
}

// A Stat is what the system tells about a file.
type Stat struct {
	Dev, Ino uint64 // together they identify the file; Ino 0: nothing was seen
	Links    uint64
	Size     int64
	Modified time.Time // by the clock of the machine that keeps the file system
	Kind     string    // what it is instead of a regular file, as in "a directory"; "": it is one
	Marked   bool      // Create made it
	User     uint32    // whose it is; not examined on Windows
	Own      bool      // it belongs to this user or to root; not examined on Windows
	Deleted  bool      // on Windows: it goes when the last process closes it
}

// Same reports whether two looks saw the same file.
func (s Stat) Same(t Stat) bool { return s.Dev == t.Dev && s.Ino == t.Ino }

// ErrReplaced says that the path of a file leads to another file by now, or to none.
var ErrReplaced = errors.New("the path names another file")

// Named returns nil if the path leads to this very file. Otherwise it returns ErrReplaced, or why
// that cannot be told.
func (f *File) Named() error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if mine.Deleted {
		return ErrReplaced
	}
	there, err := f.atPath()
	if isGone(err) || err == nil && !there.Same(mine) {
		err = ErrReplaced
	}
	return err
}

// LockWithin tries for about the given time to take the kernel lock of a file that somebody else
// may have opened. A process that only looks at the file lets go at once.
func (f *File) LockWithin(timeout time.Duration) (free bool, err error) {
	for range timeout / time.Millisecond {
		if free, err = f.TryLock(); free || err != nil {
			return free, err
		}
		time.Sleep(time.Millisecond)
	}
	return false, nil
}

// Text returns what the file holds. A file with more than MaxText bytes is none of ours: of that Text
// returns the first MaxText+1 bytes.
func (f *File) Text() (string, error) { return f.Read(MaxText + 1) }

// IsMarked reports whether Create made the file at a path. The file need not be readable.
func IsMarked(path string) bool {
	st, err := statPath(path)
	return err == nil && st.Kind == "" && st.Marked
}

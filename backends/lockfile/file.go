// Package lockfile is files that are locks, for the kinds of lock that use one: opened
// safely, read, written, locked by the kernel, and told from what is none.
//
// What is at a path is not trusted: no call here follows a symbolic link there, waits for
// the other end of a FIFO, or reads more than it is asked to. No child inherits an open
// file: one that did would keep its kernel lock alive.
//
// What a file means, and when it may be removed, is for the kinds of lock to say. Errors
// are the system's own.
package lockfile

import (
	"errors"
	"time"
)

// A File is an open lock file. Its methods are called one at a time.
type File struct {
	fd   descriptor
	path string
}

// A Stat is what the system tells of a file.
type Stat struct {
	Dev, Ino uint64 // together they name it; Ino 0: nothing was seen
	Links    uint64
	Size     int64
	Modified time.Time // by the clock of whoever keeps the file system
	Kind     string    // what it is if not a regular file, as in "a directory"
	Marked   bool      // Create made it
	Own      bool      // it belongs to this user, or to root; on Windows that is not examined
	Deleted  bool      // on Windows: it goes when the last one closes it
}

// Same reports that two looks saw one file.
func (s Stat) Same(t Stat) bool { return s.Dev == t.Dev && s.Ino == t.Ino }

// ErrReplaced says that the path of a file leads to another one by now, or to none.
var ErrReplaced = errors.New("the path names another file")

// Named returns nil if the path leads to this very file, and otherwise ErrReplaced or
// why it cannot be told.
func (f *File) Named() error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if mine.Deleted {
		return ErrReplaced
	}
	there, err := statPath(f.path)
	if isGone(err) || err == nil && !there.Same(mine) {
		err = ErrReplaced
	}
	return err
}

// LockWithin takes the kernel lock of a file that somebody else may have opened, in about
// the time that is left for it. A process that just looks at the file lets go at once.
func (f *File) LockWithin(timeout time.Duration) (free bool, err error) {
	for range timeout / time.Millisecond {
		if free, err = f.TryLock(); free || err != nil {
			return free, err
		}
		time.Sleep(time.Millisecond)
	}
	return false, nil
}

// IsMarked reports that Create made the file at a path, which may not be readable.
func IsMarked(path string) bool {
	st, err := statPath(path)
	return err == nil && st.Kind == "" && st.Marked
}

package local

import (
	"errors"
	"io/fs"

	"locksmith/backends/lockfile"
)

// With ?empty=free (Lock.kept) whoever has the file's kernel lock has the lock. When the lock is
// free, the file stays, empty. If it were removed, a process that waits for it with flock(1)
// would get the kernel lock of the removed file, while the next holder has that of a new file.

// keptMode is the mode with which flock(1) makes a file. Our empty file has no mark of its maker
// either.
const keptMode = 0o666

// makeKept makes the file, for whoever takes it first. Its error is fs.ErrExist once the file is
// there.
func (l *Lock) makeKept() error {
	f, err := lockfile.CreatePlain(l.path, keptMode)
	switch {
	case errors.Is(err, fs.ErrExist):
	case err != nil:
		return l.fail("create lock file", err)
	default:
		_ = f.Close()
	}
	return fs.ErrExist
}

// open opens the file that is there; for writing too, where the file stays.
func (l *Lock) open() (*lockfile.File, error) {
	if l.kept {
		return regular(lockfile.OpenWritable(l.path))
	}
	return open(l.path)
}

// takeKept takes the file over. We have its kernel lock.
func (a *attempt) takeKept(f File) (*hold, error) {
	id, text, err := a.record()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	h, err := a.fill(f, id, text)
	if err == nil {
		a.tellBroken()
	}
	return h, err
}

// refill empties the file, which is ours now, for a new record. It marks the file as ours for as
// long as it has that record. A file of another user cannot be marked.
func refill(f File) error {
	f.Mark(true)
	return f.Truncate()
}

// leaveEmpty empties the file, for the next holder.
func leaveEmpty(f File) error {
	if err := f.Truncate(); err != nil {
		return err
	}
	f.Mark(false)
	return f.Unlock()
}

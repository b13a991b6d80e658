package local

import (
	"errors"
	"io/fs"

	"locksmith/backends/lockfile"
)

// With ?empty=free (Lock.kept) the file stays when the lock is free, empty then: one who
// waits for its kernel lock with flock(1) would get that of a file which is no longer
// there, beside the next holder. Whoever has its kernel lock has the lock.

// keptMode is that of a file that flock(1) makes. An empty one says nothing of its maker.
const keptMode = 0o666

// makeKept makes the file, for whoever takes it. fs.ErrExist: it is there.
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

// open opens what is there, for writing too if it is kept.
func (l *Lock) open() (*lockfile.File, error) {
	if l.kept {
		return regular(lockfile.OpenWritable(l.path))
	}
	return open(l.path)
}

// takeKept takes the file, of which we have the kernel lock.
func (a *attempt) takeKept(f *lockfile.File) (*hold, error) {
	id, text, err := a.record()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return a.fill(f, id, text)
}

// refill empties the file, which is ours now, for a new record, and marks it as what it
// is while it has one. That is left out where it is another user's.
func refill(f *lockfile.File) error {
	f.Mark(true)
	return f.Truncate()
}

// leaveEmpty leaves the file to the next one.
func leaveEmpty(f *lockfile.File) error {
	if err := f.Truncate(); err != nil {
		return err
	}
	f.Mark(false)
	return f.Unlock()
}

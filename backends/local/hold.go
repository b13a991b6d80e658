package local

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"locksmith/backends/lockfile"
)

// hold is a lock file that exists, is ours, and is locked by us in the kernel.
type hold struct {
	lock *Lock
	file File
	id   string

	done   bool // it was released, or is gone
	batons batons
}

// finish turns a file just created, or taken over (see kept.go), into a lock that is held:
// kernel lock, record, and then the proof that the file was ours all along. After an error
// nothing of it is left, except where a breaker had it locked at that moment: then the next
// breaker will remove it as unfinished.
func (l *Lock) finish(f File, record string) error {
	err := l.writeRecord(f, record)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lockfile.ErrReplaced):
		_ = f.Close()
		return err
	}
	return errors.Join(err, l.removeUnfinished(f))
}

// makerTimeout is how long a maker waits for the kernel lock of its new file. Others keep
// it only as long as a look takes, unless out of malice: then somebody else made the file
// theirs, and we try again.
const makerTimeout = 100 * time.Millisecond

func (l *Lock) writeRecord(f File, record string) error {
	free, err := f.LockWithin(makerTimeout)
	if err == nil && !free {
		err = lockfile.ErrReplaced
	}
	if err == nil && l.kept {
		err = refill(f)
	}
	if err == nil {
		err = f.Write(record)
	}
	if err != nil {
		return err
	}
	// Before we had the kernel lock, a breaker may have taken the file for a dead holder's.
	return f.Named()
}

// removeUnfinished cleans up after a step of writeRecord that failed: without kernel
// locks here at all, on a full disk, or on one that breaks.
func (l *Lock) removeUnfinished(f File) error {
	err := l.remove(f)
	switch {
	case errors.Is(err, lockfile.ErrReplaced):
		return nil
	case err != nil:
		_ = f.Close()
	}
	return err
}

// remove removes the path if it leads to this file, or empties the file if it is to stay,
// and only then lets go of the kernel lock, which the caller has. After nil and ErrReplaced
// the file is closed; after any other error it is still open and locked.
func (l *Lock) remove(f File) error {
	err := f.Named()
	switch {
	case err != nil:
	case l.kept:
		err = leaveEmpty(f)
	default:
		if err = f.Unlink(); errors.Is(err, fs.ErrNotExist) {
			err = lockfile.ErrReplaced // somebody removed it after we looked
		}
	}
	if err == nil || errors.Is(err, lockfile.ErrReplaced) {
		_ = f.Close()
	}
	return err
}

// ID implements backend.Hold.
func (h *hold) ID() string { return h.id }

// Token implements backend.Hold: a lone file has no generation.
func (h *hold) Token() uint64 { return 0 }

// Tend implements backend.Hold: there is never anything beside the file to tidy up.
func (h *hold) Tend(context.Context) error { return nil }

// Kept implements backend.KeptHold. The kernel keeps its lock on the file for us while we live,
// so that nobody has a reason to remove it. Of other file systems than a machine's own this is
// not known: a server may drop the kernel locks of a client that is silent.
func (h *hold) Kept() bool { return !h.lock.anyFS }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(context.Context) error {
	if h.done {
		return h.explain("refresh lock file", lockfile.ErrReplaced)
	}
	err := h.file.Named()
	if err == nil {
		err = h.file.TouchQuietly()
	}
	if errors.Is(err, lockfile.ErrReplaced) {
		h.passBatons()
	}
	return h.explain("refresh lock file", err)
}

// Release implements backend.Hold.
func (h *hold) Release(context.Context) error {
	if h.done {
		return h.explain("remove lock file", lockfile.ErrReplaced)
	}
	err := h.lock.remove(h.file)
	if h.done = err == nil || errors.Is(err, lockfile.ErrReplaced); h.done {
		h.passBatons()
	}
	return h.explain("remove lock file", err)
}

func (h *hold) passBatons() {
	h.batons.pass()
	h.batons = nil
}

func (h *hold) explain(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lockfile.ErrReplaced):
		return h.lock.address.Gone(op, "somebody removed or replaced the lock file")
	}
	return h.lock.fail(op, err)
}

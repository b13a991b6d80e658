package local

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"locksmith/backends/lockfile"
)

// hold is a lock file that exists and is ours. We have its kernel lock.
type hold struct {
	lock *Lock
	file File
	id   string

	done   bool // the lock was released, or is gone
	batons batons
}

// finish turns a file that was just created into a held lock. It takes the kernel lock, writes the
// record, and then proves that the file was ours all along. After an error nothing of the file is
// left, unless a breaker had it locked at that moment. Then the next breaker will remove the file as
// unfinished.
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

// makerTimeout is how long a maker waits for the kernel lock of its new file, which is closed to other
// users until then. Others keep that lock only for the time of a look. If somebody keeps it longer,
// the file counts as theirs, and we try again. We may not remove it: who has its kernel lock may be a
// breaker that removes it now, so that we would hit the next one's file.
const makerTimeout = 100 * time.Millisecond

func (l *Lock) writeRecord(f File, record string) error {
	free, err := f.LockWithin(makerTimeout)
	if err == nil && !free {
		err = lockfile.ErrReplaced
	}
	if err == nil {
		err = f.Write(record)
	}
	if err != nil {
		return err
	}
	// Before we had the kernel lock, a breaker may have removed the file as a dead holder's.
	//rule:named
	if err = f.Named(); err == nil {
		_ = f.Share() // some file systems have no such rights; a lock that only we can read is a lock still
	}
	return err
}

// removeUnfinished cleans up after a failed step of writeRecord. Kernel locks may not work here
// at all, or the disk may be full or broken.
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

// remove removes the path if it leads to this file. Only then it lets go of the kernel lock, which
// the caller has. After nil and ErrReplaced the file is closed. After any other error it is still
// open and locked.
func (l *Lock) remove(f File) error {
	//rule:named
	err := f.Named()
	if err == nil {
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

// Token implements backend.Hold. A single file has no generation.
func (h *hold) Token() uint64 { return 0 }

// Tend implements backend.Hold. There is never anything beside the file to tidy up.
func (h *hold) Tend(context.Context) error { return nil }

// Kept implements backend.KeptHold. While we live the kernel keeps our lock on the file, so
// nobody has a reason to remove the file. With "?fs=any" that is not known: a server may drop the
// kernel locks of a client that is silent.
func (h *hold) Kept() bool { return !h.lock.anyFS }

// Lend implements backend.KeptHold: who has the file's descriptor has no lock, once the file is gone.
func (h *hold) Lend() ([]int, error) { return nil, nil }

// now makes a heartbeat and returns its time, by the clock of the file system. The age of a success
// counts up to that time, so that both times are of one clock.
func (h *hold) now() (time.Time, error) {
	if err := h.Heartbeat(context.Background()); err != nil {
		return time.Time{}, err
	}
	st, err := h.file.Stat()
	return st.Modified, h.explain("look at lock file", err)
}

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(context.Context) error {
	if h.done {
		return h.explain("refresh lock file", lockfile.ErrReplaced)
	}
	//rule:named
	err := h.file.Named()
	if err == nil {
		err = h.file.TouchQuietly()
	}
	//rule:lost
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
	//rule:pass
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

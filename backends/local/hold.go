package local

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// hold is a lock file that exists, is ours, and is locked by us in the kernel.
type hold struct {
	lock *Lock
	file *file
	id   string
}

// finish turns a file just created into a lock that is held: kernel lock,
// record, and then the proof that it was ours all along. After an error nothing
// of it is left, but for a file that a breaker had locked at that moment, which
// the next one will remove as unfinished.
func finish(f *file, record string) error {
	if err := f.lockAgainstLookers(); err != nil {
		f.close()
		return err
	}
	if err := f.write(record); err != nil {
		return errors.Join(err, f.removeUnfinished())
	}
	// A breaker may have taken the still unlocked file for a dead one's.
	if err := f.named(); err != nil {
		f.close()
		return err
	}
	return nil
}

// lockAgainstLookers takes the kernel lock of a new file. Nobody keeps it for
// longer than a look takes, unless out of malice: then somebody else made the
// file theirs, and we try again.
func (f *file) lockAgainstLookers() error {
	for range 100 {
		free, err := f.tryLock()
		if free || err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errNotOurs
}

// removeUnfinished cleans up after a write that failed.
func (f *file) removeUnfinished() error {
	err := f.remove()
	switch {
	case errors.Is(err, errNotOurs):
		return nil
	case err != nil:
		f.close()
	}
	return err
}

// ID implements backend.Hold.
func (h *hold) ID() string { return h.id }

// Token implements backend.Hold: a lone file has no generation.
func (h *hold) Token() uint64 { return 0 }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(context.Context) error {
	err := h.file.named()
	if err == nil {
		err = h.file.touch()
	}
	return h.explain("refresh lock file", err)
}

// Release implements backend.Hold.
func (h *hold) Release(context.Context) error {
	return h.explain("remove lock file", h.file.remove())
}

func (h *hold) explain(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotOurs):
		return &backend.Error{Code: protocol.Gone, Lock: h.lock.address, Op: op, Err: backend.ErrGone,
			Hint: "somebody removed or replaced the lock file"}
	}
	return backend.FileError(h.lock.address, op, err)
}

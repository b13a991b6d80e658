package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// hold is a lock file that exists, is ours, and is locked by us in the kernel.
type hold struct {
	lock *Lock
	file *file
	id   string

	// The helper may leave a heartbeat behind that hangs and release meanwhile.
	mu   sync.Mutex
	done bool
}

// finish turns a file just created into a lock that is held: kernel lock,
// record, and then the proof that it was ours all along. After an error nothing
// of it is left, but for a file that a breaker had locked at that moment, which
// the next one will remove as unfinished.
func finish(f *file, record string) error {
	err := f.fill(record)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotOurs):
		f.close()
		return err
	}
	return errors.Join(err, f.removeUnfinished())
}

func (f *file) fill(record string) error {
	if err := f.lockAgainstLookers(); err != nil {
		return err
	}
	if f.kept {
		if err := f.refill(); err != nil {
			return err
		}
	}
	if err := f.write(record); err != nil {
		return err
	}
	// A breaker may have taken the still unlocked file for a dead one's.
	return f.named()
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

// removeUnfinished cleans up after a step of fill that failed: without kernel
// locks here at all, on a full disk, or on one that breaks.
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

// Tend implements backend.Hold: nobody leaves anything beside the file.
func (h *hold) Tend(context.Context) error { return nil }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return h.explain("refresh lock file", errNotOurs)
	}
	err := h.file.named()
	if err == nil {
		err = h.file.touch()
	}
	return h.explain("refresh lock file", err)
}

// Release implements backend.Hold.
func (h *hold) Release(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
		return h.explain("remove lock file", errNotOurs)
	}
	err := h.file.remove()
	h.done = err == nil || errors.Is(err, errNotOurs)
	return h.explain("remove lock file", err)
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

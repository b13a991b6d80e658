//go:build unix

package flock

import (
	"context"
	"errors"
	"sync"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// hold is a file that we have locked in the kernel. We never unlock it, but close it.
type hold struct {
	lock  *Lock
	file  *lockfile.File
	id    string
	text  string // of the record; "" if the file is not for a record
	moved func(error)
	told  sync.Once
	done  bool
}

var _ backend.KeptHold = (*hold)(nil)

// newHold returns the hold of a file that we have locked. An exclusive holder leaves its record in
// the file, unless that is the lock of a program which uses fcntl(2).
func newHold(l *Lock, r backend.Request, f *lockfile.File) *hold {
	h := &hold{lock: l, file: f, moved: r.Moved}
	record, text, err := newRecord(r.Owner)
	h.id = record.ID
	beside := l.beside(f)
	if beside != "" && r.Beside != nil {
		r.Beside(string(l.address), beside)
	}
	if err == nil && beside == "" && r.Owner.Mode != "shared" && l.sign(f, text) {
		h.text = text
	}
	return h
}

// ID implements backend.Hold.
func (h *hold) ID() string { return h.id }

// Token implements backend.Hold: a file has no generation.
func (h *hold) Token() uint64 { return 0 }

// Tend implements backend.Hold: there is nothing to tidy up.
func (h *hold) Tend(context.Context) error { return nil }

// Kept implements backend.KeptHold. Nobody knows whether the kernel keeps the lock on a server's
// file system.
func (h *hold) Kept() bool { return !h.lock.anyFS }

// Lend implements backend.KeptHold.
func (h *hold) Lend() ([]int, error) {
	fd, err := h.file.Lend()
	if err != nil {
		return nil, h.lock.fail("lend the descriptor", err)
	}
	return []int{fd}, nil
}

// Heartbeat implements backend.Hold. It writes the record again if a script has emptied the file.
func (h *hold) Heartbeat(context.Context) error {
	if h.done {
		return h.gone("look at lock file")
	}
	switch err := h.named("look at lock file"); {
	case errors.Is(err, backend.ErrGone) && h.moved != nil:
		h.told.Do(func() { h.moved(err) })
		return nil
	case err != nil:
		return err
	}
	if h.text != "" {
		_ = h.lock.sign(h.file, h.text)
	}
	return nil
}

// Release implements backend.Hold. A process that inherited the descriptor keeps the lock. Others may
// have had the lock of another file meanwhile, so a file that was replaced is a loss here in any case.
func (h *hold) Release(context.Context) error {
	const op = "close lock file"
	if h.done {
		return h.gone(op)
	}
	h.done = true
	err := h.named(op)
	_ = h.file.Close()
	if errors.Is(err, backend.ErrGone) {
		return err
	}
	return nil
}

// named returns nil if the path leads to the file still.
func (h *hold) named(op string) error {
	err := h.file.Named()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, lockfile.ErrReplaced):
		return h.gone(op)
	}
	return h.lock.fail(op, err)
}

func (h *hold) gone(op string) error {
	return h.lock.address.Gone(op, "somebody renamed, replaced or removed the file; who comes for the lock now locks what is at "+h.lock.path)
}

// newRecord returns the record of an acquisition of now, and its text.
func newRecord(r owner.Record) (owner.Record, string, error) {
	env := owner.NewEnv()
	r.ID, r.Acquired, r.Kind = env.NewID(), env.Today(), Scheme
	text, err := r.Format()
	return r, text, err
}

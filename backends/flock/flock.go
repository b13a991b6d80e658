//go:build unix

package flock

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

// Scheme is the address scheme of this backend.
const Scheme = "flock"

// Lock is one file. It implements backend.Backend.
type Lock struct {
	address backend.Name
	path    string
	anyFS   bool
	eyes    eyes
	sees    look // what Read does
}

var (
	_ backend.Remover = (*Lock)(nil)
	_ shelf.Keeper    = (*Lock)(nil)
)

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if a.Options["empty"] != "" || a.Options["dir"] != "" {
		return nil, a.Name().Usage("open", "it needs no such option: an empty file is as good as any other, wherever it is", "write flock:"+backend.EscapePath(a.Path))
	}
	if err := a.CheckOptions(map[string][]string{"fs": {"any"}}); err != nil {
		return nil, err
	}
	return &Lock{address: a.Name(), path: a.Path, anyFS: a.Options["fs"] == "any", eyes: kernelsEyes(), sees: flocks.Look}, nil
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.address, "a lock of flock(2)", "exclusive", "shared")
	if err != nil {
		return nil, err
	}
	a := &attempt{lock: l, request: r, shared: r.Owner.Mode == "shared", pauses: r.Polls.Schedule(), looker: newLooker(l, r)}
	a.looker.read = a.record
	return a, nil
}

// NewestToken implements backend.Backend.
func (l *Lock) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }

// Strike implements backend.Backend. There is nothing to remove: whoever has the lock is backend.Holder.OfKernel.
func (l *Lock) Strike(context.Context, backend.Holder) error { return backend.ErrGone }

// checkPlace refuses places where this lock cannot keep its promise.
func (l *Lock) checkPlace() error {
	st, err := lockfile.StatShared(l.path)
	place := l.path
	switch {
	case errors.Is(err, fs.ErrNotExist):
		place = filepath.Dir(l.path)
	case err != nil:
		return l.fail("look at lock file", err)
	case st.Kind == "a FIFO" || st.Kind == "a socket":
		return l.address.Unfit("open lock file", "the path is "+st.Kind+", which cannot be locked", "choose another name")
	}
	if l.anyFS {
		return nil
	}
	return doctor.OneMachine(l.address, place,
		"use a file on a disk of this machine, or say ?fs=any if only this machine ever uses it, or its server passes these locks on", l.fail)
}

// fail explains a failed call.
func (l *Lock) fail(op string, err error) error {
	return l.address.Fail(op, err, func(e *backend.Error) {
		switch {
		case errors.Is(err, lockfile.ErrForeignLink):
			e.Code, e.Hint = protocol.CannotCreate, "have its owner or root remove it, or use a directory where only trusted users make files"
		case errors.Is(err, fs.ErrPermission):
			e.Hint = "let this user read the file (or make one in the directory, if there is none), or choose another file"
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			e.Code, e.Hint = protocol.CannotCreate, "this file cannot be locked: use one on a disk of this machine"
		}
	})
}

func (l *Lock) shelf() lockfile.Shelf { return lockfile.Shelf{Path: l.path, Fail: l.fail} }

// OnShelf implements shelf.Keeper. The file system is this machine's own, so its times are by this
// machine's clock.
func (l *Lock) OnShelf(ctx context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	s := l.shelf()
	s.Clock = func() (time.Time, error) { return time.Now(), held.Heartbeat(ctx) }
	return use(s)
}

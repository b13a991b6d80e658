//go:build unix

package nfs

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/nfs/generation"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// Scheme is the address scheme of this backend.
const Scheme = "nfs"

// A lock is one lock directory. It implements backend.Backend and
// backend.Remover.
type lock struct {
	generation.Lock
	path      string
	mustExist bool
}

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(map[string][]string{"create": {"no"}}); err != nil {
		return nil, err
	}
	return newLock(a), nil
}

func newLock(a backend.Address) *lock {
	here := owner.Here()
	mustExist := a.Options["create"] == "no"
	return &lock{path: a.Path, mustExist: mustExist, Lock: generation.Lock{
		Dir:     &directory{path: a.Path, mustExist: mustExist},
		Address: a.String(),
		NewID:   owner.NewID,
		Judge:   func(r owner.Record) owner.Verdict { return r.Verdict(here) },
		Keeper:  func(r owner.Record) (process.Process, bool) { return r.Lives(here) },
		Today:   time.Now,
	}}
}

// Attempt implements backend.Backend.
func (l *lock) Attempt(r backend.Request) (backend.Attempt, error) {
	dir := &directory{path: l.path, mustExist: l.mustExist}
	algorithm := l.Lock
	algorithm.Dir = dir
	a, err := algorithm.Attempt(r)
	if err != nil {
		return nil, err
	}
	return &attempt{a, l, dir}, nil
}

// Inspect implements backend.Backend.
func (l *lock) Inspect(ctx context.Context) (backend.Report, error) {
	if err := l.check(); err != nil {
		return backend.Report{}, err
	}
	return l.Lock.Inspect(ctx)
}

// Break implements backend.Backend.
func (l *lock) Break(ctx context.Context, id string) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.Lock.Break(ctx, id)
}

// NewestToken implements backend.Backend.
func (l *lock) NewestToken(ctx context.Context) (uint64, error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	return l.Lock.NewestToken(ctx)
}

// An attempt looks at its place first. That is part of Try, because a place on a
// dead server answers late or never.
type attempt struct {
	backend.Attempt
	lock *lock
	dir  *directory
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if err := a.lock.check(); err != nil {
		return nil, err
	}
	h, err := a.Attempt.Try(ctx)
	if err == nil {
		a.dir.watcher.Close()
	}
	return h, err
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	a.dir.watcher.Close()
	return a.Attempt.Withdraw(ctx)
}

// check refuses what cannot be a lock directory. That nothing is there yet is
// fine, if it can be made.
func (l *lock) check() error {
	var st unix.Stat_t
	err := unix.Lstat(l.path, &st)
	if errors.Is(err, unix.ENOENT) {
		// This host may only remember that it is missing.
		parent := filepath.Dir(l.path)
		if _, err := (&directory{path: parent}).Look("."); err != nil {
			return l.Fail("look at directory "+parent, err)
		}
		err = unix.Lstat(l.path, &st)
	}
	switch {
	case errors.Is(err, unix.ENOENT) && l.mustExist:
		return l.unfit("it is not there", "make it, mount its file system, or leave out ?create=no")
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return l.Fail("look at lock directory", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return l.checkInside(st)
	case unix.S_IFLNK:
		return l.unfit("the path is a symbolic link", "name the directory that it points to")
	}
	return l.unfit("the path is not a directory", "choose another name")
}

// checkInside refuses a directory that is something else than a lock, before
// anything is made in it. It looks at one of the two directories only, because
// each look may be a request; a wrong G shows when it is listed.
func (l *lock) checkInside(place unix.Stat_t) error {
	dir := &directory{path: l.path, mustExist: l.mustExist}
	var st unix.Stat_t
	err := unix.Lstat(dir.at(generation.Reservations), &st)
	switch {
	case errors.Is(err, unix.ENOENT):
		return l.checkEmpty(dir)
	case err != nil:
		return l.Fail("look at "+generation.Reservations+" in the lock directory", err)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return l.unfit(generation.Reservations+" in it is not a directory", "find out whose it is, or choose another name")
	case uint32(st.Mode)&uint32(place.Mode)&0o777 != uint32(place.Mode)&0o777:
		// Its maker may have died before all others could use it. It may be ours even
		// if its owner is another: an NFS server decides who we are.
		if err := dir.Prepare(); err != nil {
			return l.Fail("let others use the lock directory", err)
		}
	}
	return nil
}

// checkEmpty refuses a directory in which there is more than a lock of which one
// half was made. Names with a dot are the file system's, or the administrator's.
func (l *lock) checkEmpty(dir *directory) error {
	names, err := dir.List(".")
	if err != nil {
		return l.Fail("list the lock directory", err)
	}
	for _, name := range names {
		if name != generation.Generations && name != generation.Reservations && !strings.HasPrefix(name, ".") {
			return l.unfit("there are other things in it, such as "+strconv.Quote(protocol.CleanText(name, 100)),
				"name a directory that is for the lock alone; it is made if it is not there")
		}
	}
	return nil
}

func (l *lock) unfit(cause, hint string) error {
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.Address, Op: "look at lock directory", Err: errors.New(cause), Hint: hint}
}

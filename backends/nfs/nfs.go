//go:build unix

package nfs

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/owner"
)

// Scheme is the address scheme of this backend.
const Scheme = "nfs"

// A lock is one lock directory. It implements backend.Backend and
// backend.Remover.
type lock struct {
	symlinks.Lock
	path      string
	mustExist bool // ?create=no
	network   bool // ?fs=network
}

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(map[string][]string{"create": {"no"}, "fs": {"network"}}); err != nil {
		return nil, err
	}
	return newLock(a), nil
}

func newLock(a backend.Address) *lock {
	mustExist := a.Options["create"] == "no"
	return &lock{path: a.Path, mustExist: mustExist, network: a.Options["fs"] == "network", Lock: symlinks.Lock{
		Dir:      &directory{path: a.Path, mustExist: mustExist},
		Address:  a.Name(),
		Env:      owner.NewEnv(),
		OwnUsers: true,
		Bells:    true,
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
	if err := l.check(ctx); err != nil {
		return backend.Report{}, err
	}
	return l.Lock.Inspect(ctx)
}

// Break implements backend.Backend.
func (l *lock) Break(ctx context.Context, id string) error {
	if err := l.check(ctx); err != nil {
		return err
	}
	return l.Lock.Break(ctx, id)
}

// NewestToken implements backend.Backend.
func (l *lock) NewestToken(ctx context.Context) (uint64, error) {
	if err := l.check(ctx); err != nil {
		return 0, err
	}
	return l.Lock.NewestToken(ctx)
}

// Search implements finder.Place.
func (l *lock) Search(context.Context) (finder.Search, error) {
	return finder.Search{Tree: finder.FileTree{Root: l.path, Address: string(l.Address)},
		Kind: l.Kind(func(path string) symlinks.Dir { return &directory{path: l.path + path} })}, nil
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
	if err := a.lock.check(ctx); err != nil {
		return nil, err
	}
	h, err := a.Attempt.Try(ctx)
	if err == nil {
		a.dir.notifier.Close()
	}
	return h, err
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	a.dir.notifier.Close()
	return a.Attempt.Withdraw(ctx)
}

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
	l := &lock{path: a.Path, mustExist: mustExist, network: a.Options["fs"] == "network", Lock: symlinks.Lock{
		Dir:      &directory{path: a.Path, mustExist: mustExist},
		Address:  a.Name(),
		Env:      owner.NewEnv(),
		OwnUsers: true,
		Bells:    true,
	}}
	l.Use = func(ctx context.Context) (*symlinks.Lock, func(), error) { return &l.Lock, func() {}, l.check(ctx) }
	return l
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

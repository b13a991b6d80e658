//go:build unix

package nfs

import (
	"context"
	"time"

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
	open := func() *directory { return &directory{path: a.Path, mustExist: mustExist} }
	l := &lock{path: a.Path, mustExist: mustExist, network: a.Options["fs"] == "network", Lock: symlinks.Lock{
		Dir:      open(),
		Address:  a.Name(),
		Env:      owner.NewEnv(),
		OwnUsers: true,
		Bells:    true,
	}}
	l.Use = func(time.Duration) *symlinks.Lock {
		dir, opened := open(), l.Lock
		opened.Dir, opened.Check, opened.Rest, opened.Use = dir, l.check, func(bool) { dir.notifier.Close() }, nil
		return &opened
	}
	return l
}

// Search implements finder.Place.
func (l *lock) Search(context.Context) (finder.Search, error) {
	return finder.Search{Tree: finder.FileTree{Root: l.path, Address: string(l.Address)},
		Kind: l.Kind(func(path string) symlinks.Dir { return &directory{path: l.path + path} })}, nil
}

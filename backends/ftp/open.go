package ftp

import (
	"path"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
)

// Open returns the lock at an address of one of the schemes; it does not connect
// yet. Its errors are *backend.Error.
func Open(a backend.Address, access backend.Access) (backend.Backend, error) {
	s, err := newServer(a, access)
	if err != nil {
		return nil, err
	}
	l := mkdirlock.Lock{
		NewDir: func() mkdirlock.Dir { return s.newDir() },
		Name:   path.Base(a.Path), Style: mkdirlock.ParseStyle(a.Options["style"]), Tokens: a.Options["tokens"] != "no",
		Address: a.String(),
		// A try is some round trips, and work for a server that others use too.
		Pace:  mkdirlock.Pace{Min: 100 * time.Millisecond, Max: 10 * time.Second},
		Depth: 1,
	}
	return l.Here().Backend(), nil
}

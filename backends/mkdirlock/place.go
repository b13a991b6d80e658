//go:build unix

package mkdirlock

import (
	"path/filepath"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/disk"
)

// Scheme is the address scheme of locks on file systems.
const Scheme = "mkdir"

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	l, err := New(a, nil)
	if err != nil {
		return nil, err
	}
	parent, name := filepath.Split(a.Path)
	parent = filepath.Clean(parent)
	private := sync.OnceValue(func() bool { return disk.IsPrivate(parent) }) // over NFS that is a request
	l.NewDir, l.Name = func() dirs.Dir { return disk.New(parent, private) }, name
	l.Pace = Pace{Min: time.Millisecond, Max: 250 * time.Millisecond, Look: time.Second,
		Each: 2 * time.Millisecond, Crowd: 64 * time.Millisecond}
	return l.Backend(), nil
}

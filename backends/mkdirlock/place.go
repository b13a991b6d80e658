//go:build unix

package mkdirlock

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
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

// Kind recognizes locks of this package below a directory.
func Kind(dir string) finder.DirectoryKind {
	l := Lock{Name: strings.TrimPrefix(dir, "/"), Tokens: true, Address: backend.Address{Scheme: Scheme, Path: dir}.Name()}
	return listKind{place: l.Here(), dir: disk.New("/", func() bool { return false })}
}

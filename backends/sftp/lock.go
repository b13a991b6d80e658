//go:build unix

package sftp

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// Open returns the lock at an address of this scheme. It does not connect yet. Its errors are
// *backend.Error.
func Open(a backend.Address, access backend.Access) (backend.Backend, error) {
	s, err := newServer(a, access)
	if err != nil {
		return nil, err
	}
	if _, styled := a.Options["style"]; styled {
		return openDirectories(s)
	}
	if err := a.CheckOptions(map[string][]string{"create": {"no"}, "style": {"plain", "dir"}}); err != nil {
		return nil, err
	}
	l := newLock(s)
	l.mustExist, l.leastLease, l.leastAnswer, l.HeadPause = a.Options["create"] == "no", minLease, minAnswer, headPause
	return l, nil
}

// headPause is the longest pause between two looks of the first in the queue. Each look is a
// request to a server that others use, too.
const headPause = 1500 * time.Millisecond

// A lock is one lock directory on a server, of the same form as that of nfs: on a disk. It
// implements backend.Backend and backend.Remover.
type lock struct {
	symlinks.Lock // opened anew for each use
	server        *server
	mustExist     bool
	// leastLease keeps heartbeats at least a second apart.
	leastLease  time.Duration
	leastAnswer time.Duration // how long its server may take for an answer, at least
}

func newLock(s *server) *lock {
	l := &lock{server: s, Lock: symlinks.Lock{Env: owner.NewEnv(), Address: s.address.Name(), LeastLease: minLease, Bells: true}}
	l.Use = func(lease time.Duration) *symlinks.Lock { return l.use(lease).algorithm }
	return l
}

// use returns the lock over its own connection, which use.close ends. An attempt has a lease, and looks
// at its place once, when it has connected.
func (l *lock) use(lease time.Duration) *use {
	d := newSymlinkDir(l.server.newSession(l.server.address.OnServer()), l.mustExist)
	algorithm := l.Lock
	u, fit := &use{d, &algorithm}, false
	if lease > 0 {
		d.answer = answerTime(lease, l.leastAnswer)
	}
	algorithm.Dir, algorithm.Use, algorithm.CheckRemoval = d, nil, d.checkRemoval
	algorithm.Check = func(ctx context.Context) error {
		if fit {
			return nil
		}
		nearest, err := u.check(ctx)
		if err == nil && lease > 0 {
			err = d.probe(ctx, nearest)
		}
		fit = err == nil
		return err
	}
	algorithm.Rest = func(held bool) {
		d.notifier.Close()
		if !held {
			d.hangUp()
		}
	}
	return u
}

type use struct {
	dir       *symlinkDir
	algorithm *symlinks.Lock
}

func (u *use) close() {
	u.dir.notifier.Close()
	u.dir.close()
}

// Attempt implements backend.Backend.
func (l *lock) Attempt(r backend.Request) (backend.Attempt, error) {
	if r.Owner.Lease < l.leastLease {
		return nil, l.Address.Usage("acquire", fmt.Sprintf("a lease of %v is less than %v", r.Owner.Lease, l.leastLease),
			"choose a longer one: SFTP has times of whole seconds")
	}
	return l.Lock.Attempt(r)
}

var (
	_ backend.Backend = (*lock)(nil)
	_ backend.Remover = (*lock)(nil)
	_ shelf.Keeper    = (*lock)(nil)
)

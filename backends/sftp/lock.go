//go:build unix

package sftp

import (
	"context"
	"errors"
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
	l.Use = func(ctx context.Context) (*symlinks.Lock, func(), error) {
		u := l.use()
		if _, err := u.check(ctx); err != nil {
			u.close()
			return nil, nil, err
		}
		return u.algorithm, u.close, nil
	}
	return l
}

// use returns the lock over its own connection, which use.close ends.
func (l *lock) use() *use {
	d := newSymlinkDir(l.server.newSession(l.server.address.OnServer()), l.mustExist)
	algorithm := l.Lock
	algorithm.Dir, algorithm.Use = d, nil
	return &use{d, &algorithm}
}

type use struct {
	dir       *symlinkDir
	algorithm *symlinks.Lock
}

func (u *use) close() {
	u.rest()
	u.dir.close()
}

// rest keeps no connection until the next use.
func (u *use) rest() {
	u.dir.notifier.Close()
	u.dir.hangUp()
}

// Attempt implements backend.Backend.
func (l *lock) Attempt(r backend.Request) (backend.Attempt, error) {
	u := l.use()
	if r.Owner.Lease < l.leastLease {
		return nil, u.dir.name().Usage("acquire", fmt.Sprintf("a lease of %v is less than %v", r.Owner.Lease, l.leastLease),
			"choose a longer one: SFTP has times of whole seconds")
	}
	u.dir.answer = answerTime(r.Owner.Lease, l.leastAnswer)
	a, err := u.algorithm.Attempt(r)
	if err != nil {
		return nil, err
	}
	return &attempt{Attempt: a, use: u}, nil
}

// An attempt looks at its place once, when it has connected.
type attempt struct {
	backend.Attempt
	use *use
	fit bool
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	if !a.fit {
		nearest, err := a.use.check(ctx)
		if err == nil {
			err = a.use.dir.probe(ctx, nearest)
		}
		if err != nil {
			return nil, err
		}
		a.fit = true
	}
	h, err := a.Attempt.Try(ctx)
	if err != nil {
		return nil, err
	}
	return &hold{h, a.use}, nil
}

// Withdraw implements backend.Attempt.
func (a *attempt) Withdraw(ctx context.Context) error {
	err := a.Attempt.Withdraw(ctx)
	if err == nil {
		a.use.rest()
	}
	return err
}

// A hold keeps its connection until it is released.
type hold struct {
	backend.Hold
	use *use
}

// Release implements backend.Hold.
func (h *hold) Release(ctx context.Context) error {
	err := h.Hold.Release(ctx)
	if err == nil {
		h.use.rest()
	}
	return err
}

var (
	_ backend.Backend = (*lock)(nil)
	_ backend.Remover = (*lock)(nil)
	_ shelf.Keeper    = (*lock)(nil)
)

// Remove implements backend.Remover.
func (l *lock) Remove(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.use.dir.checkRemoval(ctx); err != nil {
		return errors.Join(err, h.Release(ctx))
	}
	err := h.use.algorithm.Remove(ctx, h.Hold)
	if err == nil {
		h.use.rest()
	}
	return err
}

// OnShelf implements shelf.Keeper.
func (l *lock) OnShelf(ctx context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	if h, ok := held.(*hold); ok {
		held = h.Hold
	}
	return l.Lock.OnShelf(ctx, held, use)
}

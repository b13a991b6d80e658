package flock

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/lockfile"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

type inotify = posix.Inotify

// watched are the events of two cases: somebody closes the file, and may have had its lock; or the
// path leads elsewhere.
const watched = unix.IN_CLOSE | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// slowLook is how often a waiter that watches looks without an event. There is none if the holder
// unlocks the file and leaves it open, if another machine lets the lock go (?fs=any), or if this
// process cannot watch the file.
const slowLook = time.Second

// watch returns when another try is worth its cost.
func (a *attempt) watch(outer context.Context) error {
	ctx, cancel := clock.WithTimeout(outer, a.request.Clock, a.pauses.NextOr(slowLook))
	defer cancel()
	file, err := a.inotify.Watch(a.lock.path, watched)
	if err != nil {
		file = process.NoFD
	}
	// The lock may have been let go before we watched.
	if got, err := a.tryLock(); got || err != nil || errors.Is(a.file.Named(), lockfile.ErrReplaced) {
		return outer.Err()
	}
	err = process.Poll(ctx, file)
	if outer.Err() == nil && context.Cause(ctx) == clock.ErrTimeout {
		return nil
	}
	return err
}

//go:build darwin || freebsd || netbsd || openbsd

package local

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// sleep is one kevent(2) on the file and its keeper, at most for timeout.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	queue, err := process.NewQueue()
	if err != nil {
		return a.nap(outer, timeout)
	}
	defer queue.Close()
	f, err := openExisting(a.lock.path)
	if err != nil {
		return nil
	}
	defer f.close()
	// A heartbeat, which is an attribute, must not wake every waiter.
	watched := queue.Add(f.fd, unix.EVFILT_VNODE, unix.NOTE_DELETE|unix.NOTE_RENAME|unix.NOTE_WRITE) == nil
	if !a.stillSeen() {
		return nil
	}
	if a.seen.keeper.visible {
		lives, err := queue.AddExit(a.seen.keeper.Process)
		if err == nil && !lives {
			return nil // gone by now
		}
		watched = watched && err == nil
	}
	if !watched {
		timeout = min(timeout, a.pauses.NextOr(slowLook))
	}
	ctx, cancel := a.withTimeout(outer, timeout)
	defer cancel()
	_, err = queue.Wait(ctx)
	return waited(ctx, outer, err)
}

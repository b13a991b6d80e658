package local

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// sleep is one poll(2) on the file and its keeper, at most for timeout.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	file, err := a.watcher.Watch(a.lock.path, a.events())
	if errors.Is(err, unix.ENOENT) || err == nil && !a.stillSeen() {
		return nil
	}
	keeper := process.NoFD
	if a.seen.keeper.visible {
		keeper, err = a.seen.keeper.Open()
		if err == nil && keeper < 0 {
			return nil // gone by now
		}
		defer process.CloseFD(keeper)
		if err != nil {
			timeout = min(timeout, a.pauses.NextOr(slowLook))
		}
	}
	if file < 0 {
		timeout = min(timeout, a.pauses.NextOr(slowLook))
	}
	ctx, cancel := a.withTimeout(outer, timeout)
	defer cancel()
	return waited(ctx, outer, process.Poll(ctx, file, keeper))
}

// events are those that tell of the file's removal, renaming or rewriting.
func (a *attempt) events() uint32 {
	var events uint32 = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_CLOSE_WRITE | unix.IN_DONT_FOLLOW
	// IN_ATTRIB tells of the unlink, IN_DELETE_SELF only when the last one who
	// has the file open closes it (inotify(7)). A live helper of ours does so at
	// once, and its heartbeats must not wake every waiter.
	if a.seen.lockedByOther() || !a.seen.locked {
		events |= unix.IN_ATTRIB
	}
	if a.seen.content.unfinished() {
		events |= unix.IN_MODIFY
	}
	return events
}

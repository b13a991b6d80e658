package local

import (
	"context"
	"time"

	"locksmith/backends/owner"
)

// slowLook is how often a waiter looks where the kernel cannot wake it: the
// holder is in another container, or notification is not to be had.
const slowLook = time.Second

// Wait implements backend.Attempt. It sleeps until the file goes, its keeper
// dies, or the lease says it may be broken. What happened since the last look
// counts as well: a keeper that is gone by now ends the wait at once, and so
// does a file with other content, even if it has the old inode number.
func (a *attempt) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timeout := a.seen.due
	removed, err := a.seen.removal(ctx, a.lock.path)
	if err != nil || a.seen.lockedByOther() {
		timeout = min(timeout, slowLook)
	}
	if err == nil && !a.stillSeen() {
		return nil
	}
	var died <-chan struct{}
	if a.seen.keeper.visible {
		if died, err = a.seen.keeper.Exited(ctx); err != nil {
			timeout = min(timeout, slowLook)
		}
	}
	var due <-chan time.Time
	if timeout != owner.Never {
		timer := a.request.Clock.NewTimer(timeout)
		defer timer.Stop()
		due = timer.C()
	}
	select {
	case <-removed:
	case <-died:
	case <-due:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// lockedByOther reports that somebody has the kernel lock whom we cannot watch:
// the holder is in another container, or a looker, a breaker or a rogue has the
// lock of a dead one.
func (s sighting) lockedByOther() bool { return s.locked && !s.keeper.isHelper }

// stillSeen reports that the path still names what the last look saw.
func (a *attempt) stillSeen() bool {
	f, err := openExisting(a.lock.path)
	if err != nil {
		return false
	}
	defer f.close()
	c, err := f.read()
	return err == nil && c.text == a.seen.content.text
}

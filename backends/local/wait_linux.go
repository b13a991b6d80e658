package local

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A notifier wakes a waiter when something happens to the file.
type notifier = posix.Inotify

// rareLook is how often a waiter looks that got no inotify instance, of which a user has
// 128, but is woken by the end of the holder's helper: only what others do to the file is
// found out so late.
const rareLook = 30 * time.Second

// sleep is one poll(2) on the file and the process, at most for timeout.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	file, err := a.notifier.Watch(a.lock.path, a.events())
	if errors.Is(err, unix.ENOENT) || err == nil && !a.stillSeen() {
		return nil
	}
	end := process.NoFD
	if a.seen.watched.visible {
		end, err = a.seen.watched.Open()
		if err == nil && end < 0 {
			return nil // gone by now
		}
		defer process.CloseFD(end)
		if err != nil {
			timeout = min(timeout, a.pauses.NextOr(slowLook))
		}
	}
	switch {
	case file >= 0:
	case end >= 0 && a.seen.watched.isHelper: // which ends when it has released
		timeout = min(timeout, a.pauses.NextOr(rareLook))
	default:
		timeout = min(timeout, a.pauses.NextOr(slowLook))
	}
	ctx, cancel := a.withTimeout(outer, timeout)
	defer cancel()
	err = process.Poll(ctx, file, end)
	if err == nil && a.notifier.Happened() && !a.lock.kept {
		return a.follow(outer)
	}
	return waited(ctx, outer, err)
}

// stillSeen reports that the path still names what the last look saw.
func (a *attempt) stillSeen() bool {
	f, err := open(a.lock.path)
	if err != nil {
		return false
	}
	defer f.Close()
	c, err := read(f)
	return err == nil && c.Text == a.seen.content.Text
}

// settled is how long the lock stays with a holder before a waiter that saw it change
// hands looks who that is, and whether it lives.
const settled = 50 * time.Millisecond

// follow sleeps on while the lock goes from hand to hand. Every release wakes every
// waiter: to see that another was quicker takes a few calls, to look at it dozens. follow
// returns when there is no file, or the same one for a while.
func (a *attempt) follow(ctx context.Context) error {
	for {
		file, err := a.notifier.Watch(a.lock.path, removal)
		if err != nil {
			return nil // the next try finds out
		}
		if err := process.PollFor(ctx, settled, file); err != nil || !a.notifier.Happened() {
			return err
		}
	}
}

// removal are the events of the file's removal or renaming. IN_ATTRIB tells of the
// unlink. IN_DELETE_SELF comes only when the last process closes the file (inotify(7)),
// which may be a helper that is stopped.
const removal = unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW

// events are those that tell of the file's removal, renaming or rewriting. A file that
// is kept is opened for writing by everybody who looks at it.
func (a *attempt) events() uint32 {
	switch {
	case a.lock.kept:
		return removal | unix.IN_MODIFY
	case a.seen.content.unfinished():
		return removal | unix.IN_CLOSE_WRITE | unix.IN_MODIFY
	}
	return removal | unix.IN_CLOSE_WRITE
}

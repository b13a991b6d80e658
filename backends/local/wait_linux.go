package local

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/lockfile"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A notifier wakes a waiter when something happens to the file.
type notifier = posix.Inotify

// rareLook is how often a waiter looks that sleeps in the queue, or got no inotify instance, of
// which a user has 128, but is woken by the end of the holder's helper: only what others do to
// the file is found out so late.
const rareLook = 30 * time.Second

// seats is how many waiters watch a lock that is held. The others sleep in the kernel's queue
// for it, where a release wakes one of them. Those who watch are woken all, and see more: the
// lock is free although whoever the kernel woke is stopped and does not take it. So it takes
// some of them, for one may be stopped as well.
const seats = 2

// sleep sleeps until a look at the file is worth its cost, at most for timeout.
func (a *attempt) sleep(ctx context.Context, timeout time.Duration) error {
	f, err := a.lock.open()
	switch {
	case err == nil:
		if a.queues(f) {
			return a.sleepInQueue(ctx, f, timeout)
		}
		defer f.Close()
	case !errors.Is(err, fs.ErrPermission):
		return nil // the next try finds out
	}
	file, err := a.notifier.Watch(a.lock.path, a.events())
	if errors.Is(err, unix.ENOENT) || err == nil && (f == nil || !a.isStill(f)) {
		return nil
	}
	return a.watch(ctx, file, timeout)
}

// queues reports that somebody has the kernel lock of the file, and that enough others watch
// it; or that nobody can, for the kernel tells only who sleeps in the queue when that somebody
// goes: the holder is in another container, or a looker, a breaker or a rogue has the kernel
// lock of a dead one.
func (a *attempt) queues(f *lockfile.File) bool {
	if !a.seen.locked || !a.seen.watched.isHelper {
		return a.seen.locked
	}
	seated, err := f.Seat(seats)
	return err == nil && !seated
}

// isStill reports that the path names this file, and that it holds what the last look saw.
func (a *attempt) isStill(f *lockfile.File) bool {
	c, err := read(f)
	return err == nil && c.Text == a.seen.content.Text && f.Named() == nil
}

// watch is one poll(2) on the file and the process.
func (a *attempt) watch(outer context.Context, file int, timeout time.Duration) (err error) {
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
	return waited(ctx, outer, process.Poll(ctx, file, end))
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

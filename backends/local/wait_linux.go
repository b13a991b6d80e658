package local

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
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
	f, err := a.system.Open()
	switch {
	case err == nil:
		if !a.request.Several && a.queues(f) {
			return a.sleepInQueue(ctx, f, timeout)
		}
	case !errors.Is(err, fs.ErrPermission):
		return nil // the next try finds out
	}
	done := sync.OnceFunc(func() {
		if f != nil {
			_ = f.Close()
		}
	})
	defer done()
	w := a.watches(f, timeout)
	if a.request.Several { // then each lock keeps open only what is watched
		still := w.Still
		w.Still = func() bool {
			defer done()
			return still()
		}
	}
	return a.system.Poll(ctx, w)
}

// queues reports that somebody has the kernel lock of the file, and that enough others watch
// it; or that nobody can, for the kernel tells only who sleeps in the queue when that somebody
// goes: the holder is in another container, or a looker, a breaker or a rogue has the kernel
// lock of a dead one.
func (a *attempt) queues(f File) bool {
	if !a.seen.locked || !a.seen.watched.isHelper {
		return a.seen.locked
	}
	seated, err := a.system.Seat(f, seats)
	return err == nil && !seated
}

// isStill reports that the path names this file, and that it holds what the last look saw.
func (a *attempt) isStill(f File) bool {
	c, err := read(f)
	return err == nil && c.Text == a.seen.content.Text && f.Named() == nil
}

// watches is what to watch of a file, which is nil if it may not be read.
func (a *attempt) watches(f File, timeout time.Duration) Watched {
	if a.request.Several && a.seen.locked && !a.seen.watched.isHelper {
		timeout = min(timeout, a.pauses.NextOr(slowLook)) // only the queue would tell, see queues
	}
	return Watched{Still: func() bool { return f != nil && a.isStill(f) }, Process: a.seen.watched, Events: a.events(),
		Timeout: timeout, Pause: a.pauses.NextOr, Several: a.request.Several}
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

// Queue implements System.
func (m *machine) Queue(f File, given func(error)) {
	go func() { given(f.(*lockfile.File).Lock()) }()
}

// Seat implements System.
func (m *machine) Seat(f File, seats int64) (bool, error) { return f.(*lockfile.File).Seat(seats) }

// Poll implements System, by one poll(2) on the file and the process.
func (m *machine) Poll(outer context.Context, w Watched) error {
	file, err := m.notifier.Watch(m.lock.path, w.Events)
	if still := w.Still(); errors.Is(err, unix.ENOENT) || err == nil && !still {
		return nil
	}
	end := process.NoFD
	if w.Process.visible {
		end, err = w.Process.Open()
		if err == nil && end < 0 {
			return nil // gone by now
		}
		defer func() { process.CloseFD(end) }()
		if err != nil {
			w.Timeout = min(w.Timeout, w.Pause(slowLook))
		}
	}
	switch {
	case file >= 0:
	case end >= 0 && w.Process.isHelper: // which ends when it has released
		w.Timeout = min(w.Timeout, w.Pause(rareLook))
	default:
		w.Timeout = min(w.Timeout, w.Pause(slowLook))
	}
	ctx, cancel := m.withTimeout(outer, w.Timeout)
	defer cancel()
	if w.Several && file < 0 && end >= 0 { // then one descriptor is enough
		parked := end
		end = process.NoFD
		return waited(ctx, outer, process.Readable(ctx, parked))
	}
	return waited(ctx, outer, process.Poll(ctx, file, end))
}

// Random implements System.
func (m *machine) Random(limit time.Duration) time.Duration { return rand.N(limit) }

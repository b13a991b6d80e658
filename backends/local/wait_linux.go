package local

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// An inotify wakes a waiter when something happens to the file.
type inotify = posix.Inotify

const (
	// rareLook is the longest nap of a waiter that something else wakes when the holder goes: the
	// kernel's queue, or, where no inotify instance was left (a user has 128), the end of the holder's
	// helper. In the queue, up to as much again is added at random.
	rareLook = 30 * time.Second
	// firstNap is the first nap of a waiter that only the end of the holder's helper wakes. A helper
	// that serves one lock after another does not end with a release. So the waiter also looks by
	// itself, after twice as long each time.
	firstNap = 10 * time.Millisecond
)

// seats is how many waiters watch a lock whose holder's helper they see. The others sleep in the
// kernel's queue for it, where a release wakes one of them. A release wakes all who watch, so that
// one of those takes the lock if the waiter that the kernel woke is stopped and does not take it.
// There is more than one seat, because one who watches may be stopped as well. A waiter for several
// locks, or one that may not read the file, watches without a seat. A seat is not the file's kernel
// lock, and keeps nobody from that (lockfile.File.Seat).
const seats = 2

// sleep sleeps until a look at the file is worth its cost, at most for timeout.
func (a *attempt) sleep(ctx context.Context, timeout time.Duration) error {
	f, err := a.system.Open()
	switch {
	case err == nil:
		if !a.request.Several && a.mustQueue(f) {
			return a.sleepInQueue(ctx, f, timeout)
		}
	case !errors.Is(err, fs.ErrPermission):
		return nil // the file is gone, or the next Try reports the error
	}
	done := sync.OnceFunc(func() {
		if f != nil {
			_ = f.Close()
		}
	})
	defer done()
	w := a.watches(f, timeout)
	if a.request.Several { // one of many files: it is closed as soon as Still has looked
		still := w.Still
		w.Still = func() bool {
			defer done()
			return still()
		}
	}
	return a.system.Poll(ctx, w)
}

// mustQueue reports whether to sleep in the kernel's queue, and not to watch. That is so if
// somebody has the kernel lock of the file, and either all seats are taken, or watching would not
// help. If a seat is free, mustQueue takes it, until f is closed.
//
// Watching would not help if no visible helper has the kernel lock, because then only the queue
// tells when the kernel lock is dropped. No visible helper has it if the holder is in another
// container or uses flock(1). Nor has one if the holder is dead and somebody else has the kernel lock
// of its file: a process that looks, a breaker or a rogue.
func (a *attempt) mustQueue(f File) bool {
	if !a.seen.locked || !a.seen.watched.isHelper {
		return a.seen.locked
	}
	seated, err := a.system.Seat(f, seats)
	//rule:watch
	return err == nil && !seated
}

// isUnchanged reports whether the path still names this file, with the content that the last look
// saw.
func (a *attempt) isUnchanged(f File) bool {
	c, err := a.lock.read(f)
	return err == nil && c.Text == a.seen.content.Text && f.Named() == nil
}

// watches is what to watch of a file. f is nil if we may not read the file. Then inotify may not
// watch it either, unless only this process may not (landlock(7), AppArmor), and nothing tells
// whether the file is still the same.
func (a *attempt) watches(f File, timeout time.Duration) Watched {
	pause := a.pauses.NextOr
	if f == nil || a.request.Several && a.seen.locked && !a.seen.watched.isHelper {
		timeout = min(timeout, pause(slowLook))                                        // else only the kernel's queue would tell (see mustQueue)
		pause = func(usual time.Duration) time.Duration { return min(usual, timeout) } // one pause of the request's for each wait
	}
	return Watched{Still: func() bool { return f == nil || a.isUnchanged(f) }, Process: a.seen.watched, Events: a.events(),
		Timeout: timeout, Pause: pause, Nap: a.longerNap, Several: a.request.Several}
}

// longerNap is twice the last nap, but at least firstNap and at most rareLook. So a nap is hardly
// longer than the waiter has waited already.
func (a *attempt) longerNap() time.Duration {
	a.nap = min(max(2*a.nap, firstNap), rareLook)
	return a.nap
}

// removal is the mask for the events of the file's removal or renaming. IN_ATTRIB tells of the
// unlink. IN_DELETE_SELF comes only when the last process closes the file (inotify(7)), and the
// last process may be a stopped helper.
const removal = unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW

// events is the mask for the events of the file's removal, renaming or rewriting. When the maker of
// an unfinished file writes its record, only IN_MODIFY tells, because the maker keeps the file open.
// In a finished file IN_MODIFY would tell of each heartbeat (TouchQuietly).
func (a *attempt) events() uint32 {
	if a.seen.content.unfinished() {
		return removal | unix.IN_CLOSE_WRITE | unix.IN_MODIFY
	}
	return removal | unix.IN_CLOSE_WRITE
}

// Poll implements System. It waits for the file and the process at the same time.
func (m *machine) Poll(outer context.Context, w Watched) error {
	inotifyFD, err := m.inotify.Watch(m.lock.path, w.Events)
	if still := w.Still(); errors.Is(err, unix.ENOENT) || err == nil && !still {
		return nil
	}
	endFD := process.NoFD
	if w.Process.visible {
		endFD, err = w.Process.Open()
		if err == nil && endFD < 0 {
			return nil // the process is gone by now
		}
		defer func() { process.CloseFD(endFD) }()
		if err != nil {
			w.Timeout = min(w.Timeout, w.Pause(slowLook))
		}
	}
	switch {
	case inotifyFD >= 0:
	case endFD >= 0 && w.Process.isHelper: // after a release the helper ends, unless it serves more locks
		w.Timeout = min(w.Timeout, w.Pause(w.Nap()))
	default:
		w.Timeout = min(w.Timeout, w.Pause(slowLook))
	}
	ctx, cancel := m.withTimeout(outer, w.Timeout)
	defer cancel()
	if w.Several && inotifyFD < 0 && endFD >= 0 { // Poll may open a further descriptor, Readable does not
		parked := endFD
		endFD = process.NoFD
		return waited(ctx, outer, process.Readable(ctx, parked))
	}
	return waited(ctx, outer, process.Poll(ctx, inotifyFD, endFD))
}

// Random implements System.
func (m *machine) Random(limit time.Duration) time.Duration { return rand.N(limit) }

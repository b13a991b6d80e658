package posix

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A Notifier waits for a removal. The zero Notifier is ready for use, by one goroutine at a time.
type Notifier struct{ inotify Inotify }

// Await returns after d, or earlier if ctx ends, the directory at path goes away, something in
// that directory is removed, the process ends, or one of the descriptors becomes readable. path
// "" and process 0 mean none. Await sleeps in one poll. inotify tells of what this host removes,
// also on NFS, but not of what other hosts remove.
func (w *Notifier) Await(ctx context.Context, path string, watched process.Process, d time.Duration, descriptors ...int) {
	w.await(ctx, path, ofDirectory, watched, d, descriptors...)
}

// AwaitFile is Await for a file that is removed or renamed. If the file is open somewhere, its
// removal is known only when the last process closes it.
func (w *Notifier) AwaitFile(ctx context.Context, path string, watched process.Process, d time.Duration) {
	w.await(ctx, path, ofFile, watched, d)
}

func (w *Notifier) await(ctx context.Context, path string, events uint32, watched process.Process, d time.Duration, descriptors ...int) {
	watch, end := process.NoFD, process.NoFD
	var err error
	if path != "" {
		watch, err = w.inotify.Watch(path, events)
	}
	if errors.Is(err, unix.ENOENT) {
		d = min(d, removedPause)
	}
	if watched.PID != 0 {
		end, err = watched.Open()
		if err == nil && end < 0 {
			d = min(d, removedPause)
		}
		defer process.CloseFD(end)
	}
	// Without this a waiter for which no descriptor is left would ask the lock's place without a break.
	if process.PollFor(ctx, d, append(descriptors, watch, end)...) != nil {
		clock.Sleep(ctx, clock.Boot{}, d)
	}
}

// Close ends the watching.
func (w *Notifier) Close() { w.inotify.Close() }

const (
	// ofFile are the events of a file's removal or renaming. IN_ATTRIB is left out because it
	// would tell of each heartbeat.
	ofFile = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW
	// ofDirectory are the events of the same for a directory, and of removals from it.
	ofDirectory = ofFile | unix.IN_DELETE | unix.IN_ONLYDIR
)

// removedPause is how long to wait when what we wait for has happened already. It keeps a server
// that contradicts itself from being asked without a break.
const removedPause = time.Millisecond

// An Inotify watches one path at a time with one inotify(7) instance. The zero Inotify is ready
// for use, by one goroutine at a time.
//
// The instance stays open as long as its owner may wait again. Closing one takes the kernel 8 to
// 24 ms, because it first lets all its readers of the watch lists pass. Nobody waits for that
// here, least of all a waiter whose lock has just become free.
type Inotify struct {
	open bool
	fd   int
	wd   int
}

// Watch watches path instead of the last path. It returns a descriptor that becomes readable with
// the first of the events, and that belongs to the Inotify.
func (w *Inotify) Watch(path string, events uint32) (fd int, err error) {
	if err := w.reset(); err != nil {
		return -1, err
	}
	w.wd, err = unix.InotifyAddWatch(w.fd, path, events)
	if err != nil {
		w.wd = -1
		return -1, os.NewSyscallError("inotify_add_watch", err)
	}
	return w.fd, nil
}

// instances is how many inotify instances this process has open. A user may have 128. A process
// that waits for many locks leaves half of them to others.
var instances atomic.Int32

const mostInstances = 64

// reset opens the instance, or empties the open one.
func (w *Inotify) reset() (err error) {
	if !w.open {
		if instances.Add(1) > mostInstances {
			err = unix.EMFILE
		} else {
			w.fd, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		}
		if err != nil {
			instances.Add(-1)
			return os.NewSyscallError("inotify_init1", err)
		}
		w.open, w.wd = true, -1
		return nil
	}
	if w.wd >= 0 {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(w.wd)) // fails when the path is gone
	}
	var buf [4096]byte
	for {
		if n, err := unix.Read(w.fd, buf[:]); n <= 0 && err != unix.EINTR {
			return nil
		}
	}
}

// closing lets only one thread at a time make the slow close.
var closing sync.Mutex

// Close ends the watching. It closes the instance in the background.
func (w *Inotify) Close() {
	if w.open {
		fd := w.fd
		instances.Add(-1)
		go func() {
			closing.Lock()
			defer closing.Unlock()
			_ = unix.Close(fd)
		}()
	}
	w.open = false
}

package inotify

import (
	"os"

	"golang.org/x/sys/unix"
)

// A Watcher watches one path at a time. The zero Watcher is ready for use, by
// one goroutine at a time.
type Watcher struct {
	open bool
	fd   int
	wd   int
}

// Watch watches this path in place of the last one, and returns a descriptor
// that becomes readable with the first of the events. It belongs to the Watcher.
func (w *Watcher) Watch(path string, events uint32) (fd int, err error) {
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

// Happened reports whether an event has come since Watch.
func (w *Watcher) Happened() bool {
	if !w.open {
		return false
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// reset opens the instance, or empties it.
func (w *Watcher) reset() (err error) {
	if !w.open {
		w.fd, err = unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		w.open, w.wd = err == nil, -1
		return os.NewSyscallError("inotify_init1", err)
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

// Close ends the watching, in the background.
func (w *Watcher) Close() {
	if w.open {
		fd := w.fd
		go func() { _ = unix.Close(fd) }()
	}
	w.open = false
}

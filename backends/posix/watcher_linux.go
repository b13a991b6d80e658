package posix

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/inotify"
	"locksmith/backends/process"
)

// A Watcher waits for a removal. The zero Watcher is ready for use, by one
// goroutine at a time.
type Watcher struct{ inotify inotify.Watcher }

// Await returns after d, when ctx ends, when the directory at path goes away,
// when something in it does, or when the process ends; path "" and process 0
// stand for none. It sleeps in one poll. inotify tells of what this host removes,
// also on NFS; of other hosts it tells nothing.
func (w *Watcher) Await(ctx context.Context, path string, keeper process.Process, d time.Duration) {
	w.await(ctx, path, ofDirectory, keeper, d)
}

// AwaitFile is Await for a file that is removed or renamed. Of a file that somebody
// has open, only the last one to close it lets that be known.
func (w *Watcher) AwaitFile(ctx context.Context, path string, keeper process.Process, d time.Duration) {
	w.await(ctx, path, ofFile, keeper, d)
}

func (w *Watcher) await(ctx context.Context, path string, events uint32, keeper process.Process, d time.Duration) {
	watch, end := process.NoFD, process.NoFD
	var err error
	if path != "" {
		watch, err = w.inotify.Watch(path, events)
	}
	if errors.Is(err, unix.ENOENT) {
		d = min(d, removedPause)
	}
	if keeper.PID != 0 {
		end, err = keeper.Open()
		if err == nil && end < 0 {
			d = min(d, removedPause)
		}
		defer process.CloseFD(end)
	}
	_ = process.PollFor(ctx, d, watch, end)
}

// Close ends the watching.
func (w *Watcher) Close() { w.inotify.Close() }

const (
	// ofFile are the events of a file that is removed or renamed. IN_ATTRIB would
	// tell of each heartbeat, too.
	ofFile = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW
	// ofDirectory are those of a directory, and of what is removed from it.
	ofDirectory = ofFile | unix.IN_DELETE | unix.IN_ONLYDIR
)

// removedPause is how long to wait for what has happened already. It keeps a
// server that contradicts itself from being asked without a break.
const removedPause = time.Millisecond

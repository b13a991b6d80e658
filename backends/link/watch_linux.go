package link

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/inotify"
	"locksmith/backends/process"
)

type watcher = inotify.Watcher

// removal are the events of a file that is removed or renamed. IN_DELETE_SELF comes
// when it is in use nowhere any more (inotify(7)), which is so at once: a holder
// closes it first. IN_ATTRIB would wake every waiter at each heartbeat, and a watch
// on the directory at each poll of the others.
const removal = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW

// gonePause is how long to wait for what has happened already. It keeps a server
// that contradicts itself from being asked without a break.
const gonePause = time.Millisecond

// Await implements FS. inotify tells of what this host removes, also on NFS; of
// other hosts it tells nothing.
func (d *directory) Await(ctx context.Context, name string, keeper process.Process, pause time.Duration) {
	watch, err := d.watcher.Watch(d.at(name), removal)
	if errors.Is(err, unix.ENOENT) {
		pause = min(pause, gonePause)
	}
	end := process.NoFD
	if keeper.PID != 0 {
		end, err = keeper.Open()
		if err == nil && end < 0 {
			pause = min(pause, gonePause)
		}
		defer process.CloseFD(end)
	}
	_ = process.PollFor(ctx, pause, watch, end)
}

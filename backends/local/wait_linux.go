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
	file := a.watchFile()
	defer closeFD(file)
	if file >= 0 && !a.stillSeen() {
		return nil
	}
	keeper := noFD
	if a.seen.keeper.visible {
		var err error
		keeper, err = a.seen.keeper.Open()
		if err == nil && keeper < 0 {
			return nil // gone by now
		}
		defer closeFD(keeper)
		if err != nil {
			timeout = min(timeout, slowLook)
		}
	}
	if file < 0 {
		timeout = min(timeout, slowLook)
	}
	ctx, cancel := a.withTimeout(outer, timeout)
	defer cancel()
	return waited(ctx, outer, process.Poll(ctx, file, keeper))
}

const noFD = -1

func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// watchFile returns a descriptor that becomes readable when the file is
// removed, renamed or rewritten, or noFD where that cannot be watched.
func (a *attempt) watchFile() int {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return noFD
	}
	var events uint32 = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_CLOSE_WRITE | unix.IN_DONT_FOLLOW
	// IN_ATTRIB tells of the unlink, IN_DELETE_SELF only when the last one who
	// has the file open closes it (inotify(7)). A live helper of ours does so at
	// once, and its heartbeats must not wake every waiter.
	if a.seen.lockedByOther() || !a.seen.locked {
		events |= unix.IN_ATTRIB
	}
	_, err = unix.InotifyAddWatch(fd, a.lock.path, events)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		closeFD(fd)
		return noFD
	}
	return fd // without the file, stillSeen ends the wait
}

package local

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// removal returns a channel that is closed when the file seen last is removed,
// renamed or rewritten, and at once when the path does not name it any more.
func (s sighting) removal(ctx context.Context, path string) (<-chan struct{}, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	// Not IN_ATTRIB: heartbeats would wake every waiter. The holder closes its
	// file right after unlinking it, and that is IN_DELETE_SELF (inotify(7)).
	const events = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_CLOSE_WRITE | unix.IN_DONT_FOLLOW
	_, err = unix.InotifyAddWatch(fd, path, events)
	gone := make(chan struct{})
	var st unix.Stat_t
	if err == nil {
		err = unix.Lstat(path, &st)
	}
	if errors.Is(err, unix.ENOENT) || err == nil && (uint64(st.Dev) != s.dev || st.Ino != s.ino) {
		close(gone)
		return gone, unix.Close(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	go func() {
		if process.Readable(ctx, fd) == nil {
			close(gone)
		}
	}()
	return gone, nil
}

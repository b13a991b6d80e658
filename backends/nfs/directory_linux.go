package nfs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/nfs/generation"
	"locksmith/backends/process"
)

// Touch leaves the choice of the time to the server (utimensat(2)).
func (d *directory) Touch(name string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return unix.UtimesNanoAt(unix.AT_FDCWD, d.at(name), now, unix.AT_SYMLINK_NOFOLLOW)
}

// Look asks the server: lstat would tell what it said up to a minute ago
// (statx(2), AT_STATX_FORCE_SYNC).
func (d *directory) Look(name string) (generation.Sight, error) {
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_FORCE_SYNC
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, d.at(name), flags, unix.STATX_MTIME|unix.STATX_CTIME|unix.STATX_NLINK, &st)
	if err != nil {
		return generation.Sight{}, err
	}
	return generation.Sight{
		Sign:     fmt.Sprint(st.Mtime.Sec, st.Mtime.Nsec, st.Ctime.Sec, st.Ctime.Nsec),
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Links:    uint64(st.Nlink),
	}, nil
}

// List opens the directory anew each time: a descriptor that is rewound shows
// what is up to half a minute old.
func (d *directory) List(name string) ([]string, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(d.at(name), flags, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// Await sleeps in one poll. inotify tells of what this host removes, also on
// NFS; of other hosts it tells nothing.
func (d *directory) Await(ctx context.Context, name string, keeper process.Process, pause time.Duration) {
	watch, end := process.NoFD, process.NoFD
	var err error
	if name != "" {
		watch, err = d.watcher.Watch(d.at(name), removal)
	}
	if errors.Is(err, unix.ENOENT) {
		pause = min(pause, removedPause)
	}
	if keeper.PID != 0 {
		end, err = keeper.Open()
		if err == nil && end < 0 {
			pause = min(pause, removedPause)
		}
		defer process.CloseFD(end)
	}
	_ = process.PollFor(ctx, pause, watch, end)
}

// removal are the events of a directory that is removed or renamed, or from
// which something is removed.
const removal = unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// removedPause is how long to wait for what has happened already. It keeps a
// server that contradicts itself from being asked without a break.
const removedPause = time.Millisecond

package nfs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/backends/posix"
)

// Touch leaves the choice of the time to the server (utimensat(2)). A name that is not a
// directory is not ours: it may be somebody's hard link to a file.
func (d *directory) Touch(_ context.Context, name string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return posix.OpenParent(d.path, name+"/.", func(fd int, base string) error {
		return setTimes(fd, fd, base, now)
	})
}

// setTimes sets the times of what is open. Before Linux 5.8 that takes its name, in the directory at;
// looking it up may cost one more request.
func setTimes(fd, at int, name string, times []unix.Timespec) error {
	err := unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EINVAL) {
		err = unix.UtimesNanoAt(at, name, times, unix.AT_SYMLINK_NOFOLLOW)
	}
	return err
}

// Keep sets both times of what others may have made: for that, leave to write is enough
// (utimensat(2)).
func (d *directory) Keep(_ context.Context, link string, others ...string) {
	now := unix.Timespec{Nsec: unix.UTIME_NOW}
	set := func(name string, modified unix.Timespec) {
		_ = d.in(name, func(fd int, base string) error {
			return keepUnlessFile(fd, base, []unix.Timespec{now, modified})
		})
	}
	set(link, unix.Timespec{Nsec: unix.UTIME_OMIT})
	for _, name := range others {
		set(name, now)
	}
}

// keepUnlessFile refuses a file, which is not ours: it may be somebody's, by a hard link.
func keepUnlessFile(at int, name string, times []unix.Timespec) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		return unix.EEXIST
	}
	return setTimes(fd, at, name, times)
}

// Look asks the server: lstat may tell what the server said up to a minute ago (statx(2),
// AT_STATX_FORCE_SYNC).
func (d *directory) Look(_ context.Context, name string) (symlinks.Sight, error) {
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_FORCE_SYNC
	var st unix.Statx_t
	err := posix.Statx(unix.AT_FDCWD, d.at(name), flags, unix.STATX_MTIME|unix.STATX_CTIME|unix.STATX_NLINK|unix.STATX_UID, &st)
	if err != nil {
		return symlinks.Sight{}, err
	}
	return symlinks.Sight{
		Sign:     fmt.Sprint(st.Mtime.Sec, st.Mtime.Nsec, st.Ctime.Sec, st.Ctime.Nsec),
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Links:    uint64(st.Nlink),
		User:     st.Uid,
	}, nil
}

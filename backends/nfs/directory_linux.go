package nfs

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/nfs/generation"
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

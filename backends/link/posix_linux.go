package link

import (
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// statAt asks the server: fstat would tell what it said up to a minute ago (statx(2),
// AT_STATX_FORCE_SYNC). With an empty path it is about the descriptor.
func statAt(fd int, path string) (Stat, error) {
	const mask = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_NLINK | unix.STATX_SIZE | unix.STATX_MTIME
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_FORCE_SYNC
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	if err := posix.RetryEINTR(func() error { return unix.Statx(fd, path, flags, mask, &st) }); err != nil {
		return Stat{}, err
	}
	return Stat{
		Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Links: uint64(st.Nlink), Size: int64(st.Size),
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)), Kind: kindOf(uint32(st.Mode)),
	}, nil
}

// Touch implements File. It leaves the choice of the time to the server.
func (f file) Touch() error { return posix.Futimens(int(f), nil) }

// SetTime implements File.
func (f file) SetTime(t time.Time) error {
	ts := unix.NsecToTimespec(t.UnixNano())
	return posix.Futimens(int(f), &[2]unix.Timespec{ts, ts})
}

//go:build unix && !linux

package link

import (
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// statAt asks the cache, because there is no way around it here: others' dead are
// noticed later. With an empty path it is about the descriptor.
func statAt(fd int, path string) (Stat, error) {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error {
		if path == "" {
			return unix.Fstat(fd, &st)
		}
		return unix.Lstat(path, &st)
	})
	if err != nil {
		return Stat{}, err
	}
	return Stat{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Links: uint64(st.Nlink), Size: st.Size,
		Modified: time.Unix(st.Mtim.Unix()), Kind: kindOf(uint32(st.Mode)),
	}, nil
}

// Touch implements File.
func (f file) Touch() error {
	return posix.RetryEINTR(func() error { return unix.Futimes(int(f), nil) })
}

// SetTime implements File.
func (f file) SetTime(t time.Time) error {
	tv := unix.NsecToTimeval(t.UnixNano())
	return posix.RetryEINTR(func() error { return unix.Futimes(int(f), []unix.Timeval{tv, tv}) })
}

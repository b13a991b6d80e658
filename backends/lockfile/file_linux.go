package lockfile

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// markedMode is the mode of a lock file of ours, less the umask. It distinguishes an empty one, whose
// maker died before it wrote who it is, from another tool's.
const markedMode = 0o644 | unix.S_ISVTX

// isMarked reports whether a file was made with that mode, whatever the umask.
func isMarked(mode uint32) bool { return mode&unix.S_ISVTX != 0 }

// IsLocked reports whether this very descriptor has the kernel lock, as far as /proc shows that.
func (f *File) IsLocked() bool {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(f.fd))
	return err == nil && strings.Contains(string(text), "\nlock:")
}

// Seat takes one of the seats at the file, until the file is closed, and reports whether one was
// free. Anybody who may read the file may take a seat. If two come at the same instant, both may
// get the last one.
func (f *File) Seat(seats int64) (bool, error) {
	for i := range seats {
		one := unix.Flock_t{Type: unix.F_WRLCK, Start: i, Len: 1}
		if err := unix.FcntlFlock(uintptr(f.fd), unix.F_OFD_GETLK, &one); err != nil {
			return false, err
		}
		if one.Type != unix.F_UNLCK {
			continue
		}
		one = unix.Flock_t{Type: unix.F_RDLCK, Start: i, Len: 1}
		return true, unix.FcntlFlock(uintptr(f.fd), unix.F_OFD_SETLK, &one)
	}
	return false, nil
}

// mostSeats bounds how many single bytes RecordLocker takes for seats.
const mostSeats = 64

// RecordLocker finds out whether somebody has the file locked by fcntl(2), which flock(2) knows nothing
// of. A seat does not count. pid is that of the locker, or less than 1 where the kernel does not tell.
func (f *File) RecordLocker() (pid int, locked bool) {
	from := int64(0)
	for range mostSeats {
		l := unix.Flock_t{Type: unix.F_WRLCK, Start: from}
		if unix.FcntlFlock(uintptr(f.fd), unix.F_OFD_GETLK, &l) != nil || l.Type == unix.F_UNLCK {
			return 0, false
		}
		if isSeat := l.Type == unix.F_RDLCK && l.Len == 1 && l.Pid == -1; !isSeat {
			return int(l.Pid), true
		}
		from = l.Start + 1
	}
	return 0, true
}

// StatServer asks the server about the path itself, not about what a link there leads to. It does
// not tell the mark. The answer of Stat may be up to a minute old (statx(2),
// AT_STATX_FORCE_SYNC).
func StatServer(path string) (Stat, error) {
	return statServer(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW)
}

// StatServer asks the server about the open file.
func (f *File) StatServer() (Stat, error) { return statServer(f.fd, "", unix.AT_EMPTY_PATH) }

func statServer(fd int, path string, flags int) (Stat, error) {
	const mask = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_NLINK | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_UID
	var st unix.Statx_t
	if err := posix.Statx(fd, path, flags|unix.AT_STATX_FORCE_SYNC, mask, &st); err != nil {
		return Stat{}, err
	}
	return Stat{
		Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Links: uint64(st.Nlink), Size: int64(st.Size),
		Modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)), Kind: kindOf(uint32(st.Mode)), User: st.Uid,
	}, nil
}

// Touch sets the times of the file to now, by the server's clock.
func (f *File) Touch() error { return posix.Futimens(f.fd, nil) }

// TouchQuietly sets only the modification time to now. Setting both times would wake every waiter
// with IN_ATTRIB, which is there to tell them of the unlink. But if the file system says that
// somebody else owns the file, only both may be set (utimensat(2)).
func (f *File) TouchQuietly() error {
	err := posix.Futimens(f.fd, &[2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_NOW}})
	if errors.Is(err, unix.EPERM) {
		err = f.Touch()
	}
	return err
}

// SetTime sets the times of the file to a time of the server's clock.
func (f *File) SetTime(t time.Time) error {
	ts := unix.NsecToTimespec(t.UnixNano())
	return posix.Futimens(f.fd, &[2]unix.Timespec{ts, ts})
}

//go:build unix

package lockfile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
	"locksmith/backends/process"
)

type descriptor = int

// native is the system's spelling of a path.
func native(path string) string { return path }

const (
	createFlags = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	openFlags   = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
)

// Create makes a file, for reading and writing, with the mark of our lock files. It fails if
// there is one. Until Share nobody else may open the file: whoever may read a file can take its
// kernel lock, and would do so before its maker does.
func Create(path string) (*File, error) {
	return open(path, unix.O_RDWR|createFlags, markedMode&^closed)
}

// closed are the rights of all users but the owner.
const closed = 0o077

// Share lets others read a file of Create, as far as the umask says, and the group of a directory that
// is the group's (ofGroup).
func (f *File) Share() error {
	mode := markedMode&^umask() | f.ofGroup(markedMode)
	if mode&closed == 0 {
		return nil
	}
	return f.Chmod(mode)
}

// ofGroup returns which of these rights the file's group has whatever the umask: all, in a directory that
// was declared to be that group's to write to, by set-group-ID, and not everybody's. Otherwise a user
// whose umask is 077 could die there and leave a lock that nobody else of the group can look at, and so
// nobody takes.
func (f *File) ofGroup(rights uint32) uint32 {
	if umask()&rights&groupRights == 0 {
		return 0 // they are there already
	}
	const groups, of = unix.S_ISGID | unix.S_IWGRP, unix.S_ISGID | unix.S_IWGRP | unix.S_IWOTH
	var dir unix.Stat_t
	it, err := f.stat()
	if err != nil || unix.Stat(filepath.Dir(f.path), &dir) != nil || uint32(dir.Mode)&of != groups || it.Gid != dir.Gid {
		return 0
	}
	return rights & groupRights
}

const groupRights = 0o070

// umask is the umask of this process. To read it is to set it: what another thread makes at that
// moment is closed to others.
var umask = sync.OnceValue(func() uint32 {
	mask := unix.Umask(closed)
	unix.Umask(mask)
	return uint32(mask)
})

// Prepare is called before there are threads that make files (umask).
func Prepare() { umask() }

// CreatePlain makes a file as any tool does, for writing.
func CreatePlain(path string, mode uint32) (*File, error) {
	return open(path, unix.O_WRONLY|createFlags, mode)
}

// Open opens whatever is at the path, for reading.
func Open(path string) (*File, error) { return open(path, unix.O_RDONLY|openFlags, 0) }

// OpenWritable opens whatever is at the path, for reading and writing.
func OpenWritable(path string) (*File, error) { return open(path, unix.O_RDWR|openFlags, 0) }

// sharedMode is with which flock(1) makes a file.
const sharedMode = 0o666

// OpenShared opens a file that belongs to nobody in particular, as flock(1) does: for reading, by
// whatever symbolic links, and made if it is not there. What is there may be of any kind. Its error is
// ErrForeignLink if the path itself is a link that another user may have put there.
func OpenShared(path string) (*File, error) { return openShared(path, unix.O_RDONLY, unix.O_CREAT) }

// OpenSharedWritable is OpenShared for reading and writing, of what is there.
func OpenSharedWritable(path string) (*File, error) { return openShared(path, unix.O_RDWR, 0) }

// openShared opens what is there, or else makes it with the flag create. O_CREAT for what is there is
// refused to some (protected_regular), and O_CREAT alone would follow any link.
func openShared(path string, access, create int) (f *File, err error) {
	access |= unix.O_NONBLOCK | unix.O_NOCTTY
	for range makersOfShared {
		f, err = open(path, access|unix.O_NOFOLLOW, 0)
		if err != nil && isLink(path) {
			f, err = followShared(path, access, create)
		} else if errors.Is(err, fs.ErrNotExist) && create != 0 {
			f, err = makeShared(path, access|create|unix.O_EXCL)
		}
		if !errors.Is(err, fs.ErrExist) { // else somebody has just made it
			break
		}
	}
	if err == nil {
		f.follows = true
	}
	return f, err
}

// makeShared makes a file with the rights that flock(1) gives it, and with those of its group. If these
// cannot be given, the file is a lock still.
func makeShared(path string, flags int) (*File, error) {
	f, err := open(path, flags, sharedMode)
	if err != nil {
		return nil, err
	}
	if st, err := f.stat(); err == nil {
		mode := uint32(st.Mode) & 0o7777
		if all := mode | f.ofGroup(sharedMode); all != mode {
			_ = f.Chmod(all)
		}
	}
	return f, nil
}

// makersOfShared is how often others may make and remove the file while we open it.
const makersOfShared = 8

// followShared opens what a link leads to. In a directory with the sticky bit nobody else can replace
// a link that mayFollow approves.
func followShared(path string, access, create int) (*File, error) {
	if !mayFollow(path) {
		return nil, ErrForeignLink
	}
	f, err := open(path, access, 0)
	if errors.Is(err, fs.ErrNotExist) && create != 0 {
		f, err = open(path, access|create, sharedMode)
	}
	return f, err
}

// ErrForeignLink says that a path is a symbolic link of another user, in a directory where everybody
// may put one. Linux refuses to follow it, too, if fs.protected_symlinks says so (proc_sys_fs(5)).
var ErrForeignLink = errors.New("it is a symbolic link that another user has put into a directory for all")

func isLink(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// mayFollow reports whether a link is ours or the directory owner's, or only trusted users can have
// put it there.
func mayFollow(path string) bool {
	var link, dir unix.Stat_t
	if unix.Lstat(path, &link) != nil || unix.Stat(filepath.Dir(path), &dir) != nil {
		return false
	}
	forAll := dir.Mode&unix.S_ISVTX != 0 && dir.Mode&0o022 != 0
	return !forAll || link.Uid == dir.Uid || int(link.Uid) == unix.Geteuid()
}

func open(path string, flags int, mode uint32) (*File, error) {
	f := &File{path: path}
	err := posix.RetryEINTR(func() (err error) {
		f.fd, err = unix.Open(path, flags|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat returns what this kernel knows about the file. On a network file system that may be old
// (see StatServer).
func (f *File) Stat() (Stat, error) {
	st, err := f.stat()
	return statOf(st), err
}

func (f *File) stat() (st unix.Stat_t, err error) {
	err = posix.RetryEINTR(func() error { return unix.Fstat(f.fd, &st) })
	return st, err
}

// statPath looks at the path itself, not at what a link there leads to.
func statPath(path string) (Stat, error) {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Lstat(path, &st) })
	return statOf(st), err
}

// StatShared is about what a path leads to, by whatever symbolic links.
func StatShared(path string) (Stat, error) {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Stat(path, &st) })
	return statOf(st), err
}

// atPath looks at what has the file's path now.
func (f *File) atPath() (Stat, error) {
	if f.follows {
		return StatShared(f.path)
	}
	return statPath(f.path)
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

func statOf(st unix.Stat_t) Stat {
	return Stat{
		Dev: uint64(st.Dev), Ino: st.Ino, Links: uint64(st.Nlink), Size: st.Size,
		Modified: time.Unix(st.Mtim.Unix()), Kind: kindOf(uint32(st.Mode)), Marked: isMarked(uint32(st.Mode)),
		User: st.Uid, Own: st.Uid == 0 || st.Uid == uint32(unix.Geteuid()),
	}
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

// TryLock takes the kernel lock (flock(2)) if nobody has it.
func (f *File) TryLock() (bool, error) { return f.flock(unix.LOCK_EX) }

// TryShared takes the kernel lock shared, if nobody has it exclusively.
func (f *File) TryShared() (bool, error) { return f.flock(unix.LOCK_SH) }

func (f *File) flock(how int) (bool, error) {
	err := posix.RetryEINTR(func() error { return unix.Flock(f.fd, how|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Lock takes the kernel lock, and sleeps until it is free. Sleepers get it one after the other,
// roughly in the order in which they came. A signal takes a sleeper out of the kernel's queue: so
// one that is stopped meanwhile is passed by, and comes last when it goes on.
func (f *File) Lock() error { return f.sleep(unix.LOCK_EX) }

// LockShared is Lock for a lock that others may share.
func (f *File) LockShared() error { return f.sleep(unix.LOCK_SH) }

func (f *File) sleep(how int) error {
	return posix.RetryEINTR(func() error { return unix.Flock(f.fd, how) })
}

// Lend returns a copy of the descriptor, to be inherited by the program that is started now
// (process.Lend).
func (f *File) Lend() (int, error) { return process.Lend(f.fd) }

// Read returns what the file holds, at most limit bytes.
func (f *File) Read(limit int) (string, error) { return posix.Read(f.fd, limit) }

// Write writes all of text.
func (f *File) Write(text string) error { return posix.Write(f.fd, text) }

// Truncate empties the file.
func (f *File) Truncate() error {
	return posix.RetryEINTR(func() error { return unix.Ftruncate(f.fd, 0) })
}

// Chmod sets the mode.
func (f *File) Chmod(mode uint32) error {
	return posix.RetryEINTR(func() error { return unix.Fchmod(f.fd, mode) })
}

// Unlink removes the path. It does not check what the path leads to.
func (f *File) Unlink() error {
	return posix.RetryEINTR(func() error { return unix.Unlink(f.path) })
}

// Close is not repeated, because EINTR has closed the file too (close(2)). On NFS only its error
// tells that there was no room.
func (f *File) Close() error { return unix.Close(f.fd) }

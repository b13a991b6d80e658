package disk

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/posix"
)

// RenameNew implements dirs.Disk. NFS, for one, cannot do it. And where other machines change the
// directory, that nothing has the name may be only what this kernel remembers.
func (d *Directory) RenameNew(_ context.Context, from, to string) error {
	if !d.Private() {
		return errors.ErrUnsupported
	}
	err := posix.OpenParent(d.Path, from, func(source int, old string) error {
		return posix.OpenParent(d.Path, to, func(target int, name string) error {
			return posix.Rename2(source, old, target, name, unix.RENAME_NOREPLACE)
		})
	})
	if _, refused := errors.AsType[*posix.RefusedError](err); refused || backend.IsErrno(err, unix.EINVAL, unix.EOPNOTSUPP) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return dirs.Outcome(err)
}

// Stake implements dirs.Disk.
func (d *Directory) Stake(_ context.Context, name string) (io.Closer, error) {
	if !d.Private() {
		return nil, errors.ErrUnsupported
	}
	p, err := d.pin(name)
	if err != nil {
		return nil, err
	}
	if err := unix.Fsetxattr(int(p), mark, nil, 0); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// mark is an attribute that says that locksmith made a directory. No mkdir sets it.
const mark = "user.locksmith"

// Pin implements dirs.Disk.
func (d *Directory) Pin(_ context.Context, name string) (io.Closer, error) {
	p, err := d.pin(name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// A pin is an open directory with a read lock of the kernel's on it. The lock ends when the
// directory is closed, also because our process ends; by then all that our process asked for is
// done.
type pin int

func (p pin) Close() error { return unix.Close(int(p)) }

func (d *Directory) pin(name string) (pin, error) {
	var fd int
	err := posix.OpenParent(d.Path, name, func(at int, base string) error {
		return posix.RetryEINTR(func() (err error) {
			fd, err = unix.Openat(at, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			return err
		})
	})
	if err != nil {
		return 0, dirs.Outcome(err)
	}
	p := pin(fd)
	if err := p.lock(); err != nil {
		_ = p.Close()
		return 0, err
	}
	return p, nil
}

// lock takes the kernel's lock. Its error is ErrUnsupported only if nobody at all removes this
// directory as abandoned. That we may not lock it is not enough: others may.
func (p pin) lock() error {
	var st unix.Statfs_t
	err := unix.Fstatfs(int(p), &st)
	switch {
	case err != nil:
		return err
	case !onDisk(st):
		return errors.ErrUnsupported
	}
	err = unix.FcntlFlock(uintptr(p), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK})
	if err != nil && backend.IsErrno(p.marked(), unix.ENODATA, unix.EOPNOTSUPP) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return err
}

// marked returns nil if the directory has the mark; ENODATA or EOPNOTSUPP: it has not.
func (p pin) marked() error {
	_, err := unix.Fgetxattr(int(p), mark, nil)
	return err
}

// RemoveAbandoned implements dirs.Disk. If two try at the same time, each may see the other's
// pin; they try again. A process that only reads the directory may keep it from being removed,
// but cannot keep the lock from being broken.
func (d *Directory) RemoveAbandoned(ctx context.Context, name string) error {
	if !d.Private() {
		return dirs.ErrRefused
	}
	p, err := d.pin(name)
	if err != nil {
		return err
	}
	defer p.Close()
	switch {
	case p.marked() != nil:
		return dirs.ErrRefused
	case !p.abandoned() || !p.isAt(d.at(name)):
		return dirs.RefusedFor(dirs.ErrTended)
	}
	return d.Rmdir(ctx, name)
}

// abandoned reports that a marked directory is empty, and that only we have pinned it. Then it
// stays empty, so a process that pins it later does not come to own it.
func (p pin) abandoned() bool {
	if names, err := posix.ListAt(int(p), "."); err != nil || len(names) > 0 {
		return false
	}
	others := unix.Flock_t{Type: unix.F_WRLCK} // their pins would be in the way of a write lock
	err := unix.FcntlFlock(uintptr(p), unix.F_OFD_GETLK, &others)
	return err == nil && others.Type == unix.F_UNLCK
}

// isAt reports that a path leads to the directory: while it is open, no other has its inode
// number.
func (p pin) isAt(path string) bool {
	var it, there unix.Stat_t
	return unix.Fstat(int(p), &it) == nil && unix.Lstat(path, &there) == nil && it.Dev == there.Dev && it.Ino == there.Ino
}

// IsPrivate reports that a path is on a disk of this machine.
func IsPrivate(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && onDisk(st)
}

// onDisk reports that only this machine's kernel changes a file system, and that all a process
// asked for is done by the time the process is gone.
func onDisk(st unix.Statfs_t) bool {
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

var _ dirs.Disk = (*Directory)(nil)

//go:build unix

package nfs

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A directory is a lock directory on a POSIX file system. It implements symlinks.Dir. Its errors
// are the system's. No call is repeated here after EINTR: that is an unclear answer, and the
// algorithm takes it for one.
type directory struct {
	path      string
	mustExist bool           // we do not make it
	notifier  posix.Notifier // of the one attempt that this is for
}

func (d *directory) at(name string) string { return d.path + "/" + name }

// in makes a call on a name. The lock directory itself may be no symbolic link, nor
// may any directory in it.
func (d *directory) in(name string, call func(fd int, base string) error) error {
	return posix.OpenParent(filepath.Dir(d.path), path.Join(filepath.Base(d.path), name), call)
}

func (d *directory) Mkdir(_ context.Context, name string) error {
	return d.in(name, func(fd int, base string) error {
		err := unix.Mkdirat(fd, base, 0o777)
		if err == nil && symlinks.HasMembers(name) {
			err = posix.ShareNew(fd, base, d.at(symlinks.Reservations), func(string) bool { return false })
		}
		return err
	})
}

func (d *directory) Rmdir(_ context.Context, name string) error {
	return d.in(name, func(fd int, base string) error { return unix.Unlinkat(fd, base, unix.AT_REMOVEDIR) })
}

func (d *directory) Rename(_ context.Context, from, to string) error {
	return d.in(from, func(source int, old string) error {
		return d.in(to, func(target int, base string) error { return unix.Renameat(source, old, target, base) })
	})
}

func (d *directory) Symlink(_ context.Context, target, name string) error {
	return d.in(name, func(fd int, base string) error { return unix.Symlinkat(target, fd, base) })
}

func (d *directory) Unlink(_ context.Context, name string) error {
	return d.in(name, func(fd int, base string) error { return unix.Unlinkat(fd, base, 0) })
}

func (d *directory) Readlink(_ context.Context, name string) (target string, err error) {
	err = d.in(name, func(fd int, base string) (err error) {
		target, err = readlinkat(fd, base)
		return err
	})
	return target, err
}

// ReadlinkNow looks at the link first. By that the kernel learns whether the name is another link's
// by now.
func (d *directory) ReadlinkNow(ctx context.Context, name string) (string, error) {
	if _, err := d.Look(ctx, name); err != nil {
		return "", err
	}
	return readlinkat(unix.AT_FDCWD, d.at(name))
}

func readlinkat(at int, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// List implements symlinks.Dir.
func (d *directory) List(_ context.Context, name string) (names []string, err error) {
	err = d.in(name, func(fd int, base string) (err error) {
		names, err = posix.ListAt(fd, base)
		return err
	})
	return names, err
}

// Await implements symlinks.Dir.
func (d *directory) Await(ctx context.Context, name string, watched process.Process, pause time.Duration, descriptors ...int) {
	if name != "" {
		name = d.at(name)
	}
	d.notifier.Await(ctx, name, watched, pause, descriptors...)
}

// shareWithGroup opens the lock directory, which we made, to the group for which somebody has
// made the directory above, whatever our umask. A directory above to which everybody may write
// was made for no group.
func (d *directory) shareWithGroup() error {
	above := filepath.Dir(d.path)
	var st unix.Stat_t
	if err := unix.Stat(above, &st); err != nil || st.Mode&(unix.S_IWGRP|unix.S_IWOTH) != unix.S_IWGRP {
		return err
	}
	return posix.OpenParent(above, filepath.Base(d.path), func(fd int, base string) error {
		return posix.ShareWithGroup(fd, base, above, func(entry string) bool {
			return entry == symlinks.Reservations || entry == symlinks.Generations
		})
	})
}

// Prepare makes the lock directory and the two in it. This host may remember that a name is
// missing: trying to make the name corrects that.
func (d *directory) Prepare(ctx context.Context) error {
	if !d.mustExist {
		err := unix.Mkdir(d.path, 0o777)
		if err == nil {
			_ = d.shareWithGroup() // a lock that only we can use is a lock still
		}
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	for _, name := range []string{symlinks.Reservations, symlinks.Generations} {
		made := d.Mkdir(ctx, name)
		if made != nil && !errors.Is(made, unix.EEXIST) {
			return made
		}
		// If the directory existed already, its maker may have died before it opened it to others. If
		// it is not ours, only its owner can do that.
		err := d.in(name, func(fd int, base string) error { return posix.Share(fd, base, d.at(".")) })
		if err != nil && (made == nil || !errors.Is(err, fs.ErrPermission)) {
			return err
		}
	}
	return nil
}

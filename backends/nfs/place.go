//go:build unix

package nfs

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/generation/symlinks"
)

// check refuses what cannot be a lock directory. A missing one is fine, if it can be made.
func (l *lock) check(ctx context.Context) error {
	if err := l.checkShared(); err != nil {
		return err
	}
	var st unix.Stat_t
	err := unix.Lstat(l.path, &st)
	if errors.Is(err, unix.ENOENT) {
		// This host may only remember that the directory is missing.
		parent := filepath.Dir(l.path)
		if _, err := (&directory{path: parent}).Look(ctx, "."); err != nil {
			return l.Fail("look at directory "+parent, err)
		}
		err = unix.Lstat(l.path, &st)
	}
	switch {
	case errors.Is(err, unix.ENOENT) && l.mustExist:
		return l.unfit("it is not there", "make it, mount its file system, or leave out ?create=no")
	case errors.Is(err, unix.ENOENT):
		return l.checkAbove()
	case err != nil:
		return l.Fail("look at lock directory", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return l.checkInside(ctx, st)
	case unix.S_IFLNK:
		return l.unfit("the path is a symbolic link", "name the directory that it points to")
	}
	return l.unfit("the path is not a directory", "choose another name")
}

// checkShared refuses a lock directory on a local disk, if the address asks for a network file
// system. It looks each time, because a share may be unmounted while somebody waits. If the
// directory is missing, the nearest one above it decides: on the mount point of a share that is
// not mounted, several levels may be missing.
func (l *lock) checkShared() error {
	if !l.network {
		return nil
	}
	dir := l.path
	why, err := doctor.Unshared(dir)
	for errors.Is(err, unix.ENOENT) && dir != "/" {
		dir = filepath.Dir(dir)
		why, err = doctor.Unshared(dir)
	}
	switch {
	case err != nil:
		return l.Fail("look at file system of "+dir, err)
	case why != "":
		return l.Address.Unfit("look at file system of "+dir, why, "mount the share first, or leave out ?fs=network if "+dir+" is where the lock shall be")
	}
	return nil
}

// checkAbove refuses to make a lock directory where links cannot be trusted. Reading the table of
// mounts takes a while: only the locker that makes the directory does it.
func (l *lock) checkAbove() error {
	if why, advice := doctor.Distrust(filepath.Dir(l.path)); why != "" {
		return l.unfit(why, advice)
	}
	return nil
}

// checkInside refuses a directory that is not a lock, before anything is made in it. It looks at
// one of the two directories only, because each look may be a request; a wrong G shows when it is
// listed.
func (l *lock) checkInside(ctx context.Context, place unix.Stat_t) error {
	dir := &directory{path: l.path, mustExist: l.mustExist}
	var st unix.Stat_t
	err := unix.Lstat(dir.at(symlinks.Reservations), &st)
	switch {
	case errors.Is(err, unix.ENOENT):
		return l.checkEmpty(ctx, dir)
	case err != nil:
		return l.Fail("look at "+symlinks.Reservations+" in the lock directory", err)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return l.unfit(symlinks.Reservations+" in it is not a directory", "find out whose it is, or choose another name")
	case uint32(st.Mode)&uint32(place.Mode)&0o777 != uint32(place.Mode)&0o777:
		// The directory's maker may have died before all others could use it. It may be ours even if
		// its owner is another: an NFS server decides who we are.
		if err := dir.Prepare(ctx); err != nil {
			return l.Fail("let others use the lock directory", err)
		}
	}
	return nil
}

// checkEmpty refuses a directory that holds more than a half-made lock. Names with a dot are the
// file system's, or the administrator's.
func (l *lock) checkEmpty(ctx context.Context, dir *directory) error {
	names, err := dir.List(ctx, ".")
	if err != nil {
		return l.Fail("list the lock directory", err)
	}
	for _, name := range names {
		if name != symlinks.Generations && name != symlinks.Reservations && !strings.HasPrefix(name, ".") {
			return l.unfit("there are other things in it, such as "+backend.Quoted(name),
				"name a directory that is for the lock alone; it is made if it is not there")
		}
	}
	return nil
}

func (l *lock) unfit(cause, hint string) error {
	return l.Address.Unfit("look at lock directory", cause, hint)
}

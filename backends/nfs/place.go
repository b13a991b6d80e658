//go:build unix

package nfs

import (
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"locksmith/backends/doctor"
	"locksmith/backends/generation/symlinks"
)

// check refuses what cannot be a lock directory. A missing one is fine, if it can be made.
func (l *lock) check(ctx context.Context) error {
	if err := l.checkShared(); err != nil {
		return err
	}
	permissions := map[string]uint32{}
	nearest, err := l.CheckPlace(ctx, func(name string) (kind uint32, err error) {
		mode, err := l.modeOf(ctx, name)
		permissions[name] = mode & 0o777
		return mode & unix.S_IFMT, err
	})
	place := permissions["."]
	switch {
	case err != nil:
		return err
	case nearest == ".." && l.mustExist:
		return l.unfit("it is not there", "make it, mount its file system, or leave out ?create=no")
	case nearest == "..":
		return l.checkAbove()
	case nearest == symlinks.Reservations && permissions[nearest]&place != place:
		// The directory's maker may have died before all others could use it. It may be ours even if
		// its owner is another: an NFS server decides who we are.
		if err := l.Dir.Prepare(ctx); err != nil {
			return l.Fail("let others use the lock directory", err)
		}
	}
	return nil
}

// modeOf returns the mode of what has a name in the lock directory, or 0 if nothing has it.
func (l *lock) modeOf(ctx context.Context, name string) (uint32, error) {
	var st unix.Stat_t
	path := filepath.Join(l.path, name)
	err := unix.Lstat(path, &st)
	if errors.Is(err, unix.ENOENT) && name == "." {
		// This host may only remember that the directory is missing.
		parent := filepath.Dir(path)
		if _, err := (&directory{path: parent}).Look(ctx, "."); err != nil {
			return 0, l.Fail("look at directory "+parent, err)
		}
		err = unix.Lstat(path, &st)
	}
	if errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	return uint32(st.Mode), err
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

func (l *lock) unfit(cause, hint string) error {
	return l.Address.Unfit("look at lock directory", cause, hint)
}

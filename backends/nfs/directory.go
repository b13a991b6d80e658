package nfs

import (
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/inotify"
	"locksmith/backends/nfs/generation"
)

// A directory is a lock directory on a POSIX file system. It implements
// generation.Dir. Its errors are the system's. No call is repeated here after
// EINTR: the algorithm takes that for an unclear answer, which it is.
type directory struct {
	path    string
	watcher inotify.Watcher // of the one attempt that this is for
}

func (d *directory) at(name string) string { return d.path + "/" + name }

func (d *directory) Mkdir(name string) error {
	err := unix.Mkdir(d.at(name), 0o777)
	if err == nil && generation.HasMembers(name) {
		err = d.open(name, generation.Reservations)
	}
	return err
}

func (d *directory) Rmdir(name string) error { return unix.Rmdir(d.at(name)) }

func (d *directory) Rename(from, to string) error { return unix.Rename(d.at(from), d.at(to)) }

func (d *directory) Symlink(target, name string) error { return unix.Symlink(target, d.at(name)) }
func (d *directory) Unlink(name string) error          { return unix.Unlink(d.at(name)) }

func (d *directory) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink(d.at(name), buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// Prepare makes the lock directory and the two in it. A name that this host
// remembers to be missing is put right by the attempt to make it.
func (d *directory) Prepare() error {
	if err := unix.Mkdir(d.path, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	for _, name := range []string{generation.Reservations, generation.Generations} {
		made := d.Mkdir(name)
		if made != nil && !errors.Is(made, unix.EEXIST) {
			return made
		}
		// Of one that was there its maker may have died before he came to this.
		// If it is not ours, he must.
		err := d.open(name, ".")
		if err != nil && (made == nil || !errors.Is(err, unix.EPERM)) {
			return err
		}
	}
	return nil
}

// open lets those write to a new directory who may write to another, whatever
// our umask and group. It leaves out the sticky bit, which would keep people
// from breaking each other's dead.
func (d *directory) open(name, like string) error {
	var made, model unix.Stat_t
	if err := unix.Stat(d.at(name), &made); err != nil {
		return err
	}
	if err := unix.Stat(d.at(like), &model); err != nil {
		return err
	}
	wanted := uint32(model.Mode) & 0o777
	if wanted&unix.S_IWGRP != 0 && made.Gid != model.Gid {
		// Who is not in that group may have to leave it at that.
		if err := unix.Chown(d.at(name), -1, int(model.Gid)); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	if uint32(made.Mode)&wanted == wanted {
		return nil
	}
	return unix.Chmod(d.at(name), uint32(made.Mode)&0o7777|wanted)
}

package nfs

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/nfs/generation"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A directory is a lock directory on a POSIX file system. It implements
// generation.Dir. Its errors are the system's. No call is repeated here after
// EINTR: the algorithm takes that for an unclear answer, which it is.
type directory struct {
	path    string
	watcher posix.Watcher // of the one attempt that this is for
}

func (d *directory) at(name string) string { return d.path + "/" + name }

func (d *directory) Mkdir(name string) error {
	err := unix.Mkdir(d.at(name), 0o777)
	if err == nil && generation.HasMembers(name) {
		err = posix.Share(d.at(name), d.at(generation.Reservations))
	}
	return err
}

func (d *directory) Rmdir(name string) error {
	if name == "." {
		return unix.Rmdir(d.path) // the system refuses "/."
	}
	return unix.Rmdir(d.at(name))
}

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

// List implements generation.Dir.
func (d *directory) List(name string) ([]string, error) { return posix.List(d.at(name)) }

// Await implements generation.Dir.
func (d *directory) Await(ctx context.Context, name string, keeper process.Process, pause time.Duration) {
	if name != "" {
		name = d.at(name)
	}
	d.watcher.Await(ctx, name, keeper, pause)
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
		err := posix.Share(d.at(name), d.at("."))
		if err != nil && (made == nil || !errors.Is(err, unix.EPERM)) {
			return err
		}
	}
	return nil
}

//go:build unix

package sftp

import (
	"context"
	"errors"
	"path"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// check refuses what cannot be a lock directory, before anything is made in it. It returns the
// directory nearest to the reservations that is there (symlinks.Lock.CheckPlace).
func (u *use) check(ctx context.Context) (nearest string, err error) {
	nearest, err = u.algorithm.CheckPlace(ctx, func(name string) (uint32, error) { return u.dir.kindOf(ctx, name) })
	if err == nil && nearest == ".." && u.dir.mustExist {
		err = u.dir.name().Unfit("look at lock directory", "it is not there", "make it, or leave out ?create=no")
	}
	return nearest, err
}

func (d *symlinkDir) name() backend.Name { return d.server.address.Name() }

func (d *symlinkDir) failed(op string, err error) error { return d.name().Fail(op, err, nil) }

// dirStyleHint is for servers on which only locks in dir style work.
const dirStyleHint = "use ?style=dir, for all who use the lock, which needs no symbolic links"

// probe makes sure that the server keeps a symbolic link as it is made, and removes the link
// again. The link is in a directory, as those of a lock are, because ProFTPD changes no others.
// Among the reservations its name is that of a link which shows the time (package symlinks,
// shelf.go). So a probe that stays after a crash is in nobody's way.
func (d *symlinkDir) probe(ctx context.Context, in string) (err error) {
	const op, target = "make a symbolic link", symlinks.OddTarget
	if in != symlinks.Reservations {
		in = path.Join(in, ".locksmith."+owner.NewID())
		if err := d.mkdir(ctx, in); err != nil {
			return d.failed("make a directory", err)
		}
		defer func() {
			if removed := d.rmdir(ctx, in); err == nil && removed != nil {
				err = d.failed("remove a directory", removed)
			}
		}()
	}
	at := path.Join(in, "d.0-"+owner.NewID())
	if err := d.symlink(ctx, target, at); err != nil {
		return d.failed(op, err)
	}
	read, err := d.readlink(ctx, at)
	removed := d.unlink(ctx, at)
	switch {
	case errors.Join(err, removed) != nil:
		return d.failed(op, errors.Join(err, removed))
	case read != target:
		return d.server.address.Name().Failure(protocol.CannotCreate, op,
			errors.New("the server changes what links point to: it made "+backend.Quoted(read)+" of "+backend.Quoted(target)), dirStyleHint)
	}
	return nil
}

// checkRemoval makes sure that the server does not remove a symbolic link as a directory. Such a
// server would remove the bar of another process that removes the lock (symlinks.Remove).
func (d *symlinkDir) checkRemoval(ctx context.Context) error {
	removed, err := d.removesLinks(ctx, path.Join(symlinks.Reservations, "d.0-"+owner.NewID()))
	if removed {
		return d.name().Unfit("remove", "this server removes symbolic links as if they were directories, so that two who remove a lock would not notice each other",
			"remove it on the server's own disk, when nobody uses it: locksmith remove nfs:/path")
	}
	return err
}

// removesLinks makes a symbolic link, and removes it. It reports whether that could be done as if
// the link were a directory.
func (d *symlinkDir) removesLinks(ctx context.Context, at string) (bool, error) {
	if err := d.symlink(ctx, "nowhere", at); err != nil {
		return false, d.failed("make a symbolic link", err)
	}
	if err := d.rmdir(ctx, at); err == nil {
		return true, nil
	}
	if err := d.unlink(ctx, at); err != nil {
		return false, d.failed("remove a symbolic link", err)
	}
	return false, nil
}

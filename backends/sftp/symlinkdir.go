//go:build unix

package sftp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A symlinkDir is a lock directory on a server. It implements symlinks.Dir. Its errors are those
// of the system, as far as the server tells which.
type symlinkDir struct {
	*session
	mustExist bool // we do not make it
	clock     clock.Clock
	notifier  posix.Notifier // of the one attempt that this is for

	mu   sync.Mutex
	beat beat
}

func newSymlinkDir(s *session, mustExist bool) *symlinkDir {
	return &symlinkDir{session: s, mustExist: mustExist, clock: clock.Boot{}}
}

// Mkdir implements symlinks.Dir.
func (d *symlinkDir) Mkdir(ctx context.Context, name string) error {
	asked := d.clock.Now()
	err := d.mkdir(ctx, name)
	if err == nil && !strings.HasPrefix(name, symlinks.Generations+"/") {
		d.mu.Lock()
		d.beat.made, d.beat.madeAt = name, asked
		d.mu.Unlock()
	}
	if err == nil && symlinks.HasMembers(name) {
		err = d.share(ctx, name, symlinks.Reservations)
	}
	return err
}

// Rmdir implements symlinks.Dir.
func (d *symlinkDir) Rmdir(ctx context.Context, name string) error { return d.rmdir(ctx, name) }

// Rename implements symlinks.Dir.
func (d *symlinkDir) Rename(ctx context.Context, from, to string) error {
	return d.rename(ctx, from, to)
}

// Symlink implements symlinks.Dir. A link among the reservations, such as an owner's record, has
// a name that is used once. So if it is unclear whether the link was made, it is asked for
// again: without its record nobody could tell who a holder is, nor that it is dead.
func (d *symlinkDir) Symlink(ctx context.Context, target, name string) error {
	err := d.symlink(ctx, target, name)
	if errors.As(err, new(*unclearError)) && strings.HasPrefix(name, symlinks.Reservations+"/") {
		if again := d.symlink(ctx, target, name); again == nil || errors.Is(again, syscall.EEXIST) {
			return nil
		}
	}
	return err
}

// Readlink implements symlinks.Dir.
func (d *symlinkDir) Readlink(ctx context.Context, name string) (string, error) {
	return d.readlink(ctx, name)
}

// ReadlinkNow implements symlinks.Dir: a client of SFTP keeps nothing.
func (d *symlinkDir) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return d.readlink(ctx, name)
}

// Unlink implements symlinks.Dir.
func (d *symlinkDir) Unlink(ctx context.Context, name string) error { return d.unlink(ctx, name) }

// List implements symlinks.Dir.
func (d *symlinkDir) List(ctx context.Context, name string) ([]string, error) {
	all, err := d.list(ctx, name)
	names := make([]string, len(all))
	for i, item := range all {
		names[i] = item.name
	}
	return names, err
}

// Await implements symlinks.Dir. A server tells nothing by itself.
func (d *symlinkDir) Await(ctx context.Context, _ string, watched process.Process, pause time.Duration, descriptors ...int) {
	d.notifier.Await(ctx, "", watched, pause, descriptors...)
}

// Prepare implements symlinks.Dir.
func (d *symlinkDir) Prepare(ctx context.Context) error {
	if !d.mustExist {
		err := d.mkdir(ctx, ".")
		if err == nil {
			_ = d.shareWithGroup(ctx) // even a lock that only we can use is a lock
		}
		if err != nil && !errors.Is(err, syscall.EEXIST) {
			return err
		}
	}
	for _, name := range []string{symlinks.Reservations, symlinks.Generations} {
		err := d.mkdir(ctx, name)
		if err != nil && !errors.Is(err, syscall.EEXIST) {
			return err
		}
		if made := err == nil; made {
			if err := d.share(ctx, name, "."); err != nil {
				return err
			}
		}
	}
	return nil
}

// permissions are the permissions of users, groupPermissions those of the group.
const permissions, groupPermissions = 0o777, 0o070

// shareWithGroup opens the lock directory, which we made, to a group. That is the group for
// which somebody has made the directory above: one that gives its group to what is made in it
// (set-group-ID), and to which not everybody may write.
func (d *symlinkDir) shareWithGroup(ctx context.Context) error {
	const inherits, groupWrites, othersWrite = 0o2000, 0o020, 0o002
	above, err := d.lstat(ctx, "..")
	if err != nil || above.mode&(inherits|groupWrites|othersWrite) != inherits|groupWrites {
		return err
	}
	return d.open(ctx, ".", above.mode&groupPermissions)
}

// share opens a directory of ours to all users that may write to another one, whatever the
// server's umask.
func (d *symlinkDir) share(ctx context.Context, name, like string) error {
	model, err := d.lstat(ctx, like)
	if err != nil {
		return d.asRefusal(d.op("look at", like), err)
	}
	return d.open(ctx, name, model.mode&permissions)
}

// open adds permissions to those of a directory of ours.
func (d *symlinkDir) open(ctx context.Context, name string, wanted uint32) error {
	made, err := d.lstat(ctx, name)
	if err != nil {
		return d.asRefusal(d.op("look at", name), err)
	}
	if made.mode&wanted == wanted {
		return nil
	}
	op := d.op("set the permissions of", name)
	return d.asRefusal(op, d.request(ctx, op, typeSetstat, func(p packet) packet {
		return p.string(d.at(name)).attrs(attrs{flags: hasMode, mode: made.mode&0o7777 | wanted})
	}))
}

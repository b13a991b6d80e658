//go:build unix

// Package disk is dirs.Dir on a file system, and dirs.Disk where only this machine changes the
// directories.
package disk

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// A Directory is a Dir on a file system.
type Directory struct {
	Path     string
	Private  func() bool // Path is on a disk of this machine; the calls of dirs.Disk ask, and HasOurClock
	notifier posix.Notifier
}

// New returns the directory at a path. private reports that it is on a disk of this
// machine.
func New(path string, private func() bool) dirs.StatDir {
	return &Directory{Path: path, Private: private}
}

// at is the path of a name.
func (d *Directory) at(name string) string { return filepath.Join(d.Path, name) }

// Mkdir implements dirs.Dir. All users of the directory in which the lock is may use what we
// make in it: break us when we are dead, and share the lock with us.
func (d *Directory) Mkdir(_ context.Context, name string) error {
	return dirs.Outcome(posix.OpenParent(d.Path, name, func(fd int, base string) error {
		if err := unix.Mkdirat(fd, base, 0o777); err != nil {
			return err
		}
		_ = posix.ShareNew(fd, base, d.Path, labels.IsOurs) // a lock that only we can use is a lock still
		return nil
	}))
}

// Rmdir implements dirs.Dir.
func (d *Directory) Rmdir(_ context.Context, name string) error {
	return dirs.Outcome(posix.OpenParent(d.Path, name, func(fd int, base string) error {
		return unix.Unlinkat(fd, base, unix.AT_REMOVEDIR)
	}))
}

// Rename implements dirs.Dir.
func (d *Directory) Rename(_ context.Context, from, to string) error {
	return dirs.Outcome(posix.OpenParent(d.Path, from, func(source int, old string) error {
		return posix.OpenParent(d.Path, to, func(target int, name string) error { return unix.Renameat(source, old, target, name) })
	}))
}

// List implements dirs.Dir.
func (d *Directory) List(_ context.Context, name string) ([]string, error) {
	path := d.at(name)
	if name == "." {
		path = posix.FollowDir(path)
	}
	// To read where a link leads does no harm, and PLACE of list may be one.
	names, err := posix.List(path)
	if errors.Is(err, unix.ENOTDIR) && !isOther(path) {
		return nil, dirs.RefusedFor(err) // an SMB client says so of a directory that is being removed
	}
	return names, dirs.Outcome(err)
}

// Read implements dirs.Reader.
func (d *Directory) Read(name string) (io.Closer, error) {
	f, err := os.Open(d.at(name))
	if err == nil {
		_, _ = f.Readdirnames(1) // there is none
	}
	return f, err
}

// isOther reports that a path is there, and not a directory.
func isOther(path string) bool {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR || errors.Is(err, unix.ENOTDIR)
}

// Entries implements dirs.StatDir.
func (d *Directory) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	names, err := d.List(ctx, name)
	var all []dirs.Entry
	for _, n := range names {
		if e := d.Stat(name + "/" + n); e.Name != "" { // else it has just gone
			all = append(all, e)
		}
	}
	return all, err
}

// Stat implements dirs.Owned.
func (d *Directory) Stat(name string) dirs.Entry {
	st, err := os.Lstat(d.at(name))
	if err != nil {
		return dirs.Entry{}
	}
	return dirs.Entry{Name: filepath.Base(name), Dir: st.IsDir(), Modified: st.ModTime(), Precise: true, User: userOf(st)}
}

func userOf(info os.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return 0
}

// Root implements dirs.Rooted.
func (d *Directory) Root(name string) string { return d.at(name) }

// HasOurClock implements dirs.Clocked.
func (d *Directory) HasOurClock() bool { return d.Private() }

// Await implements dirs.Dir.
func (d *Directory) Await(ctx context.Context, name string, watched process.Process, pause time.Duration) {
	if name != "" {
		name = d.at(name)
	}
	d.notifier.Await(ctx, name, watched, pause)
}

// MayRemove looks for the sticky bit of the directory that a name is in (inode(7)). With it, only
// the owner of the name, the directory's owner and root may remove or rename the name.
func (d *Directory) MayRemove(name string) bool {
	var around, it unix.Stat_t
	if unix.Stat(filepath.Dir(d.at(name)), &around) != nil || unix.Lstat(d.at(name), &it) != nil {
		return true // the attempt will tell
	}
	me := uint32(os.Geteuid())
	return uint32(around.Mode)&unix.S_ISVTX == 0 || me == around.Uid || me == it.Uid || me == 0 && rules(it)
}

// unmapped is how the kernel shows a user or a group that our user namespace does not have.
const unmapped = 65534

// rules reports that root, as we are, may act for the owner of it. In a container root may do so
// only for those users and groups that the container has (user_namespaces(7)).
func rules(it unix.Stat_t) bool {
	if it.Uid != unmapped && it.Gid != unmapped {
		return true
	}
	all, err := process.SeesAllUsers()
	return err != nil || all // there it is nobody's own number
}

// Examine implements dirs.Examiner.
func (d *Directory) Examine(_ context.Context, name string, _ backend.Examination, tell backend.Tell) (rest func() error, err error) {
	doctor.DirNeeds{Removal: true}.Examine(d.at(name), tell)
	return nil, nil
}

var (
	_ dirs.StatDir  = (*Directory)(nil)
	_ dirs.Guarded  = (*Directory)(nil)
	_ dirs.Rooted   = (*Directory)(nil)
	_ dirs.Owned    = (*Directory)(nil)
	_ dirs.Clocked  = (*Directory)(nil)
	_ dirs.Examiner = (*Directory)(nil)
)

// Close implements dirs.Dir.
func (d *Directory) Close() { d.notifier.Close() }

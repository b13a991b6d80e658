//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// Scheme is the address scheme of this backend.
const Scheme = "link"

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(map[string][]string{"touch": {"now", "ahead"}, "pids": {"local"}, "dir": {"any"}}); err != nil {
		return nil, err
	}
	parent, name := filepath.Split(a.Path)
	parent = filepath.Clean(parent)
	l := &Lock{
		NewFS: func() FS { return &directory{path: parent} },
		Name:  name, Path: a.Path, Address: a.String(),
		Ahead: a.Options["touch"] == "ahead", OneMachine: a.Options["pids"] == "local",
	}
	if len(name)+longestMark > maxName {
		return nil, l.usage("read address", fmt.Sprintf("the name is longer than %d bytes", maxName-longestMark),
			"choose a shorter one: files beside it are called after it")
	}
	l.Check = func() error { return l.checkPlace(parent, a.Options["dir"] == "any") }
	return l.Here(), nil
}

// checkPlace refuses a directory where the lock cannot keep its promise.
func (l *Lock) checkPlace(dir string, anybody bool) error {
	op := "look at directory " + dir
	var st unix.Stat_t
	if err := posix.RetryEINTR(func() error { return unix.Stat(dir, &st) }); err != nil {
		return l.fail(op, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return l.fail(op, unix.ENOTDIR)
	}
	if st.Mode&unix.S_IWOTH != 0 && st.Mode&unix.S_ISVTX == 0 && !anybody {
		return &backend.Error{Code: protocol.CannotCreate, Lock: l.Address, Op: op,
			Err:  errors.New("everybody may remove files there: it is world-writable without the sticky bit"),
			Hint: "chmod +t it, or accept that with ?dir=any"}
	}
	return nil
}

// A directory is an FS on a POSIX file system.
type directory struct {
	path    string
	watcher posix.Watcher
}

func (d *directory) at(name string) string { return filepath.Join(d.path, name) }

// Create implements FS. To close the file is part of writing it: only then NFS
// says that there is no room.
func (d *directory) Create(name, content string) error {
	fd, err := open(d.at(name), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	// Whatever our umask: who cannot read it can have no proof of our death.
	return errors.Join(unix.Fchmod(fd, 0o644), posix.Write(fd, content), unix.Close(fd))
}

// Link implements FS.
func (d *directory) Link(from, to string) error { return unix.Link(d.at(from), d.at(to)) }

// Unlink implements FS.
func (d *directory) Unlink(name string) error { return unix.Unlink(d.at(name)) }

// Stat implements FS.
func (d *directory) Stat(name string) (Stat, error) { return statAt(unix.AT_FDCWD, d.at(name)) }

// Read implements FS.
func (d *directory) Read(name string) (Stat, string, error) {
	fd, err := openExisting(d.at(name))
	if err != nil {
		return Stat{}, "", err
	}
	defer unix.Close(fd)
	st, err := statAt(fd, "")
	if err != nil || st.Kind != "" {
		return st, "", err
	}
	text, err := posix.Read(fd, MaxContent+1)
	return st, text, err
}

// Open implements FS.
func (d *directory) Open(name string) (File, error) {
	fd, err := openExisting(d.at(name))
	if err != nil {
		return nil, err
	}
	return file(fd), nil
}

// List implements FS.
func (d *directory) List() ([]string, error) { return posix.List(posix.FollowDir(d.path)) }

// Close implements FS.
func (d *directory) Close() { d.watcher.Close() }

// A file is an open file. No child inherits it.
type file int

// Stat implements File.
func (f file) Stat() (Stat, error) { return statAt(int(f), "") }

// Close implements File.
func (f file) Close() { _ = unix.Close(int(f)) }

func open(path string, flags int, mode uint32) (fd int, err error) {
	err = posix.RetryEINTR(func() (err error) {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// openExisting neither follows a link nor blocks on a FIFO.
func openExisting(path string) (int, error) {
	return open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// kindOf is what a file is by its mode, "" if it is a regular one.
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

// Await implements FS. A holder closes its file before it removes it, so that the
// removal is seen at once (inotify(7), IN_DELETE_SELF); to watch the directory would
// wake a waiter at each poll of the others.
func (d *directory) Await(ctx context.Context, name string, keeper process.Process, pause time.Duration) {
	d.watcher.AwaitFile(ctx, d.at(name), keeper, pause)
}

//go:build unix

package link

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/finder"
	"locksmith/backends/lockfile"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// An FS is the directory in which the lock is: the few calls that the algorithm makes. Names are
// those of files directly in it. Errors are the system's own (errors.Is with unix.ENOENT and the
// like). A call that changes a name is one request to the server, made once; Create is several.
type FS interface {
	// Create makes a file that was not there, writes all of the content, and closes it, so that
	// a server has it. After an error there may be a file, perhaps incomplete.
	Create(name, content string) error
	// Link gives a file another name that was not there.
	Link(from, to string) error
	Unlink(name string) error
	// Stat asks the server, not a cache, about what has this name. It follows no link.
	Stat(name string) (lockfile.Stat, error)
	// Read returns what Stat tells, and the content, of one and the same file. It reads no more
	// than finder.MaxText+1 bytes. It follows no link and waits for nothing. It may fail if it is no
	// regular file.
	Read(name string) (lockfile.Stat, string, error)
	// Open keeps hold of a file by more than its name. It follows no link.
	Open(name string) (File, error)
	// List opens the directory anew and reads it to the end. It may miss names that
	// come or go meanwhile.
	List() ([]string, error)
	// Await returns after d, when ctx ends, or sooner if it notices that the file goes away or
	// the process ends; "" and a process 0 stand for none. It only promises not to return much
	// later.
	Await(ctx context.Context, name string, watched process.Process, d time.Duration)
	// Close frees what Await keeps. Await may be called again.
	Close()
}

// A File is one open file, whatever becomes of its name. On a local disk its inode number is not
// used again while it is open. Elsewhere the calls say ESTALE when it is gone.
type File interface {
	StatServer() (lockfile.Stat, error)
	// Touch sets the modification time to the server's now.
	Touch() error
	// SetTime sets the modification time to a time of the server's clock.
	SetTime(t time.Time) error
	Close() error
}

// A directory is an FS on a POSIX file system.
type directory struct {
	path     string
	notifier posix.Notifier
}

func (d *directory) at(name string) string { return filepath.Join(d.path, name) }

// Create implements FS. Closing the file is part of writing it: only then NFS says that there is
// no room.
func (d *directory) Create(name, content string) error {
	const mode = 0o644
	f, err := lockfile.CreatePlain(d.at(name), mode)
	if err != nil {
		return err
	}
	// Whatever our umask, because waiters that cannot read it cannot prove our death.
	return errors.Join(f.Chmod(mode), f.Write(content), f.Close())
}

// Link implements FS.
func (d *directory) Link(from, to string) error { return unix.Link(d.at(from), d.at(to)) }

// Unlink implements FS.
func (d *directory) Unlink(name string) error { return unix.Unlink(d.at(name)) }

// Stat implements FS.
func (d *directory) Stat(name string) (lockfile.Stat, error) {
	return lockfile.StatServer(d.at(name))
}

// Read implements FS.
func (d *directory) Read(name string) (lockfile.Stat, string, error) {
	f, err := lockfile.Open(d.at(name))
	if err != nil {
		return lockfile.Stat{}, "", err
	}
	defer f.Close()
	st, err := f.StatServer()
	if err != nil || st.Kind != "" {
		return st, "", err
	}
	text, err := f.Read(finder.MaxText + 1)
	return st, text, err
}

// Open implements FS.
func (d *directory) Open(name string) (File, error) {
	f, err := lockfile.Open(d.at(name))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// List implements FS.
func (d *directory) List() ([]string, error) { return posix.List(posix.FollowDir(d.path)) }

// Close implements FS.
func (d *directory) Close() { d.notifier.Close() }

// Await implements FS. A holder closes its file before it removes it. So the removal is seen at
// once (inotify(7), IN_DELETE_SELF). To watch the directory would wake a waiter at each poll of
// the others.
func (d *directory) Await(ctx context.Context, name string, watched process.Process, pause time.Duration) {
	if name != "" {
		name = d.at(name)
	}
	d.notifier.AwaitFile(ctx, name, watched, pause)
}

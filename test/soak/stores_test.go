//go:build unix

package soak

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/backends/link"
	"locksmith/backends/lockfile"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
)

// directories is a client's connection to a place with locks of directories.
type directories struct{ client }

var _ dirs.Dir = directories{}

// connect opens a connection.
func (c client) connect() dirs.Dir {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(1)
	return directories{c}
}

func (d directories) Mkdir(_ context.Context, name string) error {
	return dirs.Outcome(d.client.Mkdir(name))
}

func (d directories) Rmdir(_ context.Context, name string) error {
	return dirs.Outcome(d.client.Rmdir(name))
}

func (d directories) Rename(_ context.Context, from, to string) error {
	return dirs.Outcome(d.client.Rename(from, to))
}

func (d directories) List(_ context.Context, name string) ([]string, error) {
	names, err := d.client.List(name)
	return names, dirs.Outcome(err)
}

func (d directories) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keep(-1)
}

// generations is a client's directory for a lock of nfs:.
type generations struct{ client }

var _ symlinks.Dir = generations{}

func (g generations) Await(ctx context.Context, name string, watched process.Process, d time.Duration, _ ...int) {
	g.client.Await(ctx, name, watched, d)
}

func (g generations) Prepare(context.Context) error {
	for _, name := range []string{symlinks.Reservations, symlinks.Generations} {
		if err := g.client.Mkdir(name); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

func (g generations) Mkdir(_ context.Context, name string) error  { return g.client.Mkdir(name) }
func (g generations) Rmdir(_ context.Context, name string) error  { return g.client.Rmdir(name) }
func (g generations) Unlink(_ context.Context, name string) error { return g.client.Unlink(name) }

func (g generations) Rename(_ context.Context, from, to string) error {
	return g.client.Rename(from, to)
}

func (g generations) List(_ context.Context, name string) ([]string, error) {
	return g.client.List(name)
}

func (g generations) Symlink(_ context.Context, target, name string) error {
	return g.do(name, func(path string) error { return unix.Symlink(target, path) })
}

func (g generations) Readlink(_ context.Context, name string) (target string, err error) {
	err = g.do(name, func(path string) error { target, err = os.Readlink(path); return err })
	return target, err
}

func (g generations) ReadlinkNow(ctx context.Context, name string) (string, error) {
	return g.Readlink(ctx, name)
}

func (g generations) Keep(context.Context, string, ...string) {}

func (g generations) Touch(_ context.Context, name string) error { return g.do(name, touch) }

func (g generations) Look(_ context.Context, name string) (s symlinks.Sight, err error) {
	err = g.do(name, func(path string) error {
		var st unix.Stat_t
		err := unix.Stat(path, &st)
		modified := time.Unix(st.Mtim.Unix())
		s = symlinks.Sight{Sign: strconv.FormatInt(modified.UnixNano(), 36), Modified: modified, Links: uint64(st.Nlink)}
		return err
	})
	return s, err
}

// files is a client's directory with lock files of several names.
type files struct{ client }

var _ link.FS = files{}

func (f files) Create(name, content string) error {
	return f.do(name, func(path string) error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = file.WriteString(content)
		return errors.Join(err, file.Close(), touch(path))
	})
}

func (f files) Link(from, to string) error {
	return f.do(from, func(path string) error { return unix.Link(path, filepath.Join(f.root, to)) })
}

func (f files) Stat(name string) (st lockfile.Stat, err error) {
	st, _, err = f.Read(name)
	return st, err
}

func (f files) Read(name string) (st lockfile.Stat, text string, err error) {
	file, err := f.Open(name)
	if err != nil {
		return st, "", err
	}
	defer file.Close()
	if st, err = file.StatServer(); err != nil {
		return st, "", unix.ENOENT
	}
	raw := make([]byte, st.Size)
	_, err = file.(openFile).file.ReadAt(raw, 0)
	return st, string(raw), err
}

func (f files) Open(name string) (file link.File, err error) {
	err = f.do(name, func(path string) error {
		opened, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			f.keep(1)
			f.life.open[opened] = struct{}{}
			file = openFile{f.client, opened}
		}
		return err
	})
	return file, err
}

func (f files) List() ([]string, error) { return f.client.List(".") }

// Close has nothing to close: Await keeps nothing open.
func (f files) Close() {}

// An openFile is a file that one client has open.
type openFile struct {
	client
	file *os.File
}

// StatServer answers ESTALE for a file that is gone, as a server does.
func (o openFile) StatServer() (st lockfile.Stat, err error) {
	err = o.do("", func(string) error {
		var u unix.Stat_t
		if err := unix.Fstat(int(o.file.Fd()), &u); err != nil {
			return err
		}
		st = lockfile.Stat{Dev: uint64(u.Dev), Ino: u.Ino, Links: uint64(u.Nlink), Size: u.Size, Modified: time.Unix(u.Mtim.Unix())}
		if st.Links == 0 {
			return unix.ESTALE
		}
		return nil
	})
	return st, err
}

func (o openFile) Touch() error { return o.SetTime(time.Now()) }

func (o openFile) SetTime(t time.Time) error {
	if _, err := o.StatServer(); err != nil {
		return err
	}
	at := unix.NsecToTimeval(t.UnixNano())
	return o.do("", func(string) error { return unix.Futimes(int(o.file.Fd()), []unix.Timeval{at, at}) })
}

func (o openFile) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, open := o.life.open[o.file]; !open {
		return nil
	}
	delete(o.life.open, o.file)
	o.keep(-1)
	return o.file.Close()
}

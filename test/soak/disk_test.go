//go:build unix

package soak

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A disk is a directory in which all times are those of a synctest bubble.
type disk struct {
	dir string

	mu    sync.Mutex
	calls int // that were made
	kept  int // what clients that live keep open: files, connections
}

// entries counts everything below a directory. What goes away meanwhile does not count.
func entries(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
	return n
}

// A client is how one process uses a disk. When it is dead its calls do nothing.
type client struct {
	*disk
	root string
	life *life
}

// A life is a process's life: whether it is over, and what it keeps open.
type life struct {
	dead bool
	kept int                   // what it keeps open
	open map[*os.File]struct{} // files of these
}

func (d *disk) client() client {
	return client{disk: d, root: d.dir, life: &life{open: map[*os.File]struct{}{}}}
}

// below returns the same client in a directory of its own, which it makes.
func (c client) below(name string) client {
	c.root = filepath.Join(c.root, name)
	_ = os.MkdirAll(c.root, 0o700) // else all calls fail
	return c
}

// die ends everything that the process does, and closes what it kept open.
func (c client) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life.dead = true
	c.disk.kept -= c.life.kept
	for f := range c.life.open {
		_ = f.Close()
	}
}

// keep counts what is opened, or closed if n is negative. The caller holds mu.
func (c client) keep(n int) {
	if !c.life.dead {
		c.life.kept += n
		c.disk.kept += n
	}
}

// do makes a call with a path.
func (c client) do(name string, call func(path string) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.dead {
		return unix.EIO
	}
	c.calls++
	return call(filepath.Join(c.root, name))
}

// touch sets a file's times to the bubble's time.
func touch(path string) error { return os.Chtimes(path, time.Now(), time.Now()) }

// Mkdir makes a directory.
func (c client) Mkdir(name string) error {
	return c.do(name, func(path string) error {
		if err := unix.Mkdir(path, 0o700); err != nil {
			return err
		}
		return touch(path)
	})
}

// Rmdir removes a directory that is empty.
func (c client) Rmdir(name string) error { return c.do(name, unix.Rmdir) }

// Unlink removes a name of a file, or a symbolic link.
func (c client) Unlink(name string) error { return c.do(name, unix.Unlink) }

// Rename replaces an empty directory.
func (c client) Rename(from, to string) error {
	return c.do(from, func(path string) error { return unix.Rename(path, filepath.Join(c.root, to)) })
}

// List lists a directory.
func (c client) List(name string) (names []string, err error) {
	err = c.do(name, func(path string) error {
		all, err := os.ReadDir(path)
		for _, e := range all {
			names = append(names, e.Name())
		}
		return err
	})
	return names, err
}

// Await only lets time go by.
func (client) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, d)
}

// bubbleTime is the clock of a synctest bubble, counted from the bubble's beginning. The times of
// clock.Runtime would be negative: it counts from the start of this process, which is later than
// the bubble's time.
type bubbleTime struct{ clock.Runtime }

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (bubbleTime) Now() time.Duration { return time.Since(bubbleStart) }

package soak

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/link"
	"locksmith/backends/lockfile"
	"locksmith/backends/process"
)

// files is a client's directory with lock files of several names.
type files struct{ client }

var _ link.FS = files{}

func (f files) Create(name, content string) error {
	return f.do(func() error {
		n := &node{number: f.made + 1, content: content, links: 1, modified: time.Now()}
		err := f.put(name, n)
		if err == nil {
			f.made++
		}
		return err
	})
}

func (f files) Link(from, to string) error {
	return f.do(func() error {
		n, err := f.get(from)
		if err == nil {
			err = f.put(to, n)
		}
		if err == nil {
			n.links++
		}
		return err
	})
}

func (f files) Unlink(name string) error { return f.unlink(name) }

func (f files) Stat(name string) (st lockfile.Stat, err error) {
	st, _, err = f.Read(name)
	return st, err
}

func (f files) Read(name string) (st lockfile.Stat, text string, err error) {
	err = f.do(func() error {
		n, err := f.get(name)
		if err == nil {
			st, text = n.stat(), n.content
		}
		return err
	})
	return st, text, err
}

func (n *node) stat() lockfile.Stat {
	return lockfile.Stat{Dev: 1, Ino: n.number, Links: n.links, Size: int64(len(n.content)), Modified: n.modified}
}

func (f files) Open(name string) (file link.File, err error) {
	err = f.do(func() error {
		n, err := f.get(name)
		file = openFile{f.client, n}
		return err
	})
	if err != nil {
		return nil, err
	}
	f.keep(1)
	return file, nil
}

func (f files) List() ([]string, error) { return f.list(".") }

func (f files) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, d)
}

// Close has nothing to give up: Await keeps nothing.
func (f files) Close() {}

// An openFile is a file as one client has it open.
type openFile struct {
	client
	node *node
}

// StatServer says ESTALE of a file that is gone, as a server does.
func (o openFile) StatServer() (st lockfile.Stat, err error) {
	err = o.alive(func() { st = o.node.stat() })
	return st, err
}

func (o openFile) Touch() error { return o.SetTime(time.Now()) }

func (o openFile) SetTime(t time.Time) error {
	return o.alive(func() { o.node.modified = t })
}

func (o openFile) alive(call func()) error {
	return o.do(func() error {
		if o.node.links == 0 {
			return unix.ESTALE
		}
		call()
		return nil
	})
}

func (o openFile) Close() error {
	o.keep(-1)
	return nil
}

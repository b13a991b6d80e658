package ftp

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/process"
)

// A Dir is the directory of a lock on a server, over one connection that is made
// when it is needed. It implements mkdirlock.Timed.
type Dir struct {
	server *server
	clock  clock.Clock
	turn   chan struct{} // full while somebody uses what follows
	conn   *conn         // nil: not connected
	gentle bool          // a listing came cut short
	keeper keeper
}

var _ mkdirlock.Timed = (*Dir)(nil)

// NewDir returns the directory in which the lock at an address is; it does not
// connect yet. Its errors are *backend.Error.
func NewDir(a backend.Address, access backend.Access) (*Dir, error) {
	s, err := newServer(a, access)
	if err != nil {
		return nil, err
	}
	return s.newDir(), nil
}

func (s *server) newDir() *Dir {
	return &Dir{server: s, clock: clock.Boot{}, turn: make(chan struct{}, 1), keeper: newKeeper()}
}

// Mkdir implements mkdirlock.Dir.
func (d *Dir) Mkdir(ctx context.Context, name string) error {
	p, err := d.server.at(name)
	if err != nil {
		return err
	}
	return d.call(ctx, "make directory "+shortPath(p), func(c *conn) error { return d.made(p, c.library.MakeDir(p)) })
}

// Rmdir implements mkdirlock.Dir.
func (d *Dir) Rmdir(ctx context.Context, name string) error {
	p, err := d.server.at(name)
	if err != nil {
		return err
	}
	return d.call(ctx, "remove directory "+shortPath(p), func(c *conn) error { return d.removed(p, c.library.RemoveDir(p)) })
}

// Rename implements mkdirlock.Dir.
func (d *Dir) Rename(ctx context.Context, from, to string) error {
	source, err := d.server.at(from)
	if err != nil {
		return err
	}
	target, err := d.server.at(to)
	if err != nil {
		return err
	}
	return d.call(ctx, "rename "+shortPath(source)+" to "+shortPath(target), func(c *conn) error {
		return d.made(target, c.library.Rename(source, target))
	})
}

// Await implements mkdirlock.Dir. A server tells nothing by itself.
func (d *Dir) Await(ctx context.Context, _ string, _ process.Process, wait time.Duration) {
	clock.Sleep(ctx, d.clock, wait)
}

// Close implements mkdirlock.Dir.
func (d *Dir) Close() {
	d.keeper.end()
	d.turn <- struct{}{}
	defer d.leave()
	if d.conn != nil {
		d.conn.quit(time.Second)
		d.drop()
	}
}

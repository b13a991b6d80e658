package ftp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
	"locksmith/backends/servers"
)

// A Dir is the directory of a lock on a server. It uses one connection, which is made when it is
// needed. It implements dirs.StatDir.
type Dir struct {
	server    *server
	clock     clock.Clock
	busy      chan struct{} // full while somebody uses the following fields
	conn      *conn         // nil: not connected
	delayTLS  bool          // a listing was cut short
	keepalive keepalive
}

var _ dirs.StatDir = (*Dir)(nil)

func (s *server) newDir() *Dir {
	return &Dir{server: s, clock: clock.Boot{}, busy: make(chan struct{}, 1), keepalive: newKeepalive()}
}

// Mkdir implements dirs.Dir.
func (d *Dir) Mkdir(ctx context.Context, name string) error {
	p, err := d.server.at(name)
	if err != nil {
		return err
	}
	return d.call(ctx, "make directory "+servers.ShortPath(p), func(c *conn) error { return d.made(p, c.library.MakeDir(p)) })
}

// Rmdir implements dirs.Dir.
func (d *Dir) Rmdir(ctx context.Context, name string) error {
	p, err := d.server.at(name)
	if err != nil {
		return err
	}
	return d.call(ctx, "remove directory "+servers.ShortPath(p), func(c *conn) error { return d.removed(p, c.library.RemoveDir(p)) })
}

// Rename implements dirs.Dir.
func (d *Dir) Rename(ctx context.Context, from, to string) error {
	source, err := d.server.at(from)
	if err != nil {
		return err
	}
	target, err := d.server.at(to)
	if err != nil {
		return err
	}
	return d.call(ctx, "rename "+servers.ShortPath(source)+" to "+servers.ShortPath(target), func(c *conn) error {
		return d.made(target, c.library.Rename(source, target))
	})
}

// Await implements dirs.Dir. It only sleeps, because a server tells nothing by itself.
func (d *Dir) Await(ctx context.Context, _ string, _ process.Process, wait time.Duration) {
	clock.Sleep(ctx, d.clock, wait)
}

// Close implements dirs.Dir.
func (d *Dir) Close() {
	d.keepalive.end()
	d.busy <- struct{}{}
	defer d.leave()
	if d.conn != nil {
		d.conn.quit(time.Second)
		d.drop()
	}
}

// enter waits until nobody else uses the connection.
func (d *Dir) enter(ctx context.Context) error {
	if ctx.Err() == nil {
		select {
		case d.busy <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("%s: wait for the connection: %w", d.server.address, ctx.Err())
}

func (d *Dir) leave() { <-d.busy }

// call makes a call of the library, with the outcomes of dirs.Dir. If it is certain that the
// call did nothing, it is made once more on a new connection. Typically the server had closed an
// idle connection.
func (d *Dir) call(ctx context.Context, op string, f func(*conn) error) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer d.leave()
	for repeated := false; ; repeated = true {
		c, err := d.connected(ctx)
		if err != nil {
			return err
		}
		err = c.run(ctx, f)
		switch c.judge(err) {
		case done:
			d.used(c)
			return nil
		case refused:
			d.used(c)
			return fmt.Errorf("%s: %w: %w", op, dirs.ErrRefused, c.reason(err))
		case unclear:
			d.drop()
			return d.unclear(ctx, op, c.reason(err))
		}
		d.delayTLS = d.delayTLS || errors.Is(err, errCut)
		d.closed(err)
		d.drop()
		if repeated || !c.repeatable(ctx, err) {
			return d.unchanged(ctx, c, op, err)
		}
	}
}

func (d *Dir) unclear(ctx context.Context, op string, cause error) error {
	if err := servers.Over(ctx); err != nil {
		cause = err
	}
	return fmt.Errorf("%s: %w: %w", op, dirs.ErrUnclear, cause)
}

// unchanged is the error of a call that changed nothing.
func (d *Dir) unchanged(ctx context.Context, c *conn, op string, err error) error {
	tooLong, isTooLong := errors.AsType[backend.TooLongError](err)
	switch {
	case servers.Over(ctx) == nil && c.control.goodbye != "":
		busy := d.server.busy(op, c.clean(c.control.goodbye))
		d.server.backoff.Failed(busy) // the log in was of no use
		return busy
	case isTooLong:
		return d.server.address.Name().TooLong(op, tooLong)
	case errors.As(err, new(*dataError)):
		return d.server.lost(ctx, op, &dataError{c.reason(err)})
	case lists(c.control.verb) && !errors.As(err, new(*servers.UnsentError)):
		return d.unclear(ctx, op, c.reason(err))
	}
	return d.server.lost(ctx, op, c.reason(err))
}

// repeatable reports whether a new connection may help. After a long wait without an answer only
// a listing is tried again. A connection may be dead though nobody has closed it, and servers
// lose data connections when they serve several clients at the same time.
func (c *conn) repeatable(ctx context.Context, err error) bool {
	verb := c.control.verb
	return servers.Over(ctx) == nil && !errors.As(err, new(*dataError)) && !errors.As(err, new(backend.TooLongError)) &&
		(!errors.Is(err, os.ErrDeadlineExceeded) || listens(verb) || lists(verb))
}

// connected returns the connection, or makes a new one.
func (d *Dir) connected(ctx context.Context) (*conn, error) {
	if d.conn != nil {
		return d.conn, nil
	}
	c, err := d.server.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.delayTLS = d.delayTLS
	d.conn = c
	d.keep(c)
	return c, nil
}

func (d *Dir) drop() {
	if d.conn != nil {
		d.conn.hangUp()
		d.conn = nil
		d.keepalive.stop()
	}
}

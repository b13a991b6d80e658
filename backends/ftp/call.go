package ftp

import (
	"context"
	"errors"
	"fmt"
	"os"

	"locksmith/backends/mkdirlock"
	"locksmith/protocol"
)

// enter waits until nobody else uses the connection.
func (d *Dir) enter(ctx context.Context) error {
	if ctx.Err() == nil {
		select {
		case d.turn <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("%s: wait for the connection: %w", d.server.address, ctx.Err())
}

func (d *Dir) leave() { <-d.turn }

// call makes a call of the library, with the outcomes of mkdirlock.Dir. It is
// made once more, on a new connection, when it is certain that the first did
// nothing: typically because the server had closed an idle connection.
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
			return fmt.Errorf("%s: %w: %w", op, mkdirlock.ErrRefused, c.told(err))
		case unclear:
			d.drop()
			return d.unclear(ctx, op, c.told(err))
		}
		d.gentle = d.gentle || errors.Is(err, errCut)
		d.closed(err)
		d.drop()
		if repeated || !c.repeatable(ctx, err) {
			return d.nothing(ctx, c, op, err)
		}
	}
}

func (d *Dir) unclear(ctx context.Context, op string, cause error) error {
	if err := over(ctx); err != nil {
		cause = err
	}
	return fmt.Errorf("%s: %w: %w", op, mkdirlock.ErrUnclear, cause)
}

// nothing is the error of a call that changed nothing.
func (d *Dir) nothing(ctx context.Context, c *conn, op string, err error) error {
	switch {
	case over(ctx) == nil && c.control.goodbye != "":
		busy := d.server.busy(op, c.clean(c.control.goodbye))
		d.server.door.turnedAway(busy) // it let us in for nothing
		return busy
	case errors.Is(err, errTooLong):
		return d.server.fail(protocol.CannotCreate, op, errTooLong, "keep the lock in a directory with less in it")
	case errors.As(err, new(*dataError)):
		return d.server.lost(ctx, op, &dataError{c.told(err)})
	case lists(c.control.verb) && !errors.As(err, new(*unsentError)):
		return d.unclear(ctx, op, c.told(err))
	}
	return d.server.lost(ctx, op, c.told(err))
}

// repeatable reports that a new connection may help. Who waited for long in vain
// does not wait again, but for a listing: a connection may be dead though nobody has
// closed it, and servers lose data connections of those they serve at the same time.
func (c *conn) repeatable(ctx context.Context, err error) bool {
	verb := c.control.verb
	return over(ctx) == nil && !errors.As(err, new(*dataError)) && !errors.Is(err, errTooLong) &&
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
	c.gentle = d.gentle
	d.conn = c
	d.keep(c)
	return c, nil
}

func (d *Dir) drop() {
	if d.conn != nil {
		d.conn.hangUp()
		d.conn = nil
		d.keeper.stop()
	}
}

package ftp

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/clock"
)

const (
	keepEvery   = 2 * time.Minute // servers wait 5 minutes and more
	keepSoonest = 5 * time.Second // however soon a server closes
	keepTimeout = 10 * time.Second
)

// A keepalive keeps an idle connection open by small transfers, because some servers count
// nothing else as a sign of life.
type keepalive struct {
	life     context.Context // ends when the Dir is closed
	end      context.CancelFunc
	stop     context.CancelFunc // stops keeping the current connection open
	every    time.Duration
	what     string        // a directory that is likely to exist
	command  time.Duration // when the last call ended
	transfer time.Duration // when the last listing ended
}

func newKeepalive() keepalive {
	life, end := context.WithCancel(context.Background())
	return keepalive{life: life, end: end, stop: end, every: keepEvery}
}

// keep begins to keep a new connection open.
func (d *Dir) keep(c *conn) {
	ctx, stop := context.WithCancel(d.keepalive.life)
	d.keepalive.stop = stop
	d.keepalive.command = d.clock.Now()
	d.keepalive.transfer = d.keepalive.command
	go d.keepOn(ctx, c, d.keepalive.every)
}

func (d *Dir) keepOn(ctx context.Context, c *conn, wait time.Duration) {
	for wait > 0 {
		clock.Sleep(ctx, d.clock, wait)
		wait = d.refresh(ctx, c)
	}
}

// refresh makes a transfer if there was none for long. It returns when to come again; 0: never,
// because the connection is gone.
func (d *Dir) refresh(ctx context.Context, c *conn) time.Duration {
	if d.enter(ctx) != nil {
		return 0
	}
	defer d.leave()
	if d.conn != c || ctx.Err() != nil {
		return 0
	}
	if idle := d.clock.Now() - d.keepalive.transfer; idle < d.keepalive.every {
		return d.keepalive.every - idle
	}
	// How long the server may take does not concern leases, so the runtime's clock will do.
	short, cancel := context.WithTimeout(ctx, min(keepTimeout, d.server.timeout))
	defer cancel()
	err := c.run(short, func(c *conn) error {
		_, err := c.library.NameList(d.kept())
		return c.ended(err)
	})
	if o := c.judge(err); o != done && o != refused {
		d.closed(err)
		d.drop()
		return 0
	}
	d.used(c)
	d.keepalive.transfer = d.clock.Now() // even if it was refused: more cannot be done
	return d.keepalive.every
}

// kept is the directory to list. The lock's own directory is the smaller one, but may not exist.
func (d *Dir) kept() string {
	if d.keepalive.what != "" {
		return d.keepalive.what
	}
	p, _ := d.server.at(".") // "." is never refused
	return p
}

// made notes a directory that was made.
func (d *Dir) made(p string, err error) error {
	if err == nil {
		d.keepalive.what = p
	}
	return err
}

func (d *Dir) removed(p string, err error) error {
	if err == nil && d.keepalive.what == p {
		d.keepalive.what = ""
	}
	return err
}

// used notes that the connection was just used.
func (d *Dir) used(c *conn) {
	d.keepalive.command = d.clock.Now()
	if lists(c.control.verb) {
		d.keepalive.transfer = d.keepalive.command
	}
}

// closed learns how soon a server closes idle connections.
func (d *Dir) closed(err error) {
	now := d.clock.Now()
	if errors.Is(err, errClosed) && now-d.keepalive.command >= keepSoonest {
		d.keepalive.every = max(keepSoonest, min(d.keepalive.every, (now-d.keepalive.transfer)/2))
	}
}

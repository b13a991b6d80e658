package ftp

import (
	"context"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
)

var _ mkdirlock.Examiner = (*Dir)(nil)

// Examine implements mkdirlock.Examiner. While the other checks go on, one more
// connection is left idle, if the server takes another; else it is afterwards.
func (d *Dir) Examine(ctx context.Context, name string, e backend.Examination, tell backend.Tell) (rest func() error, err error) {
	s, err := d.Session(ctx)
	if err != nil {
		return nil, err
	}
	encryption(s, tell)
	idle := beginIdle(ctx, d.server.dial, e.Idle)
	return func() error {
		if err := d.files(ctx, name, tell); err != nil {
			return err
		}
		if err := d.connections(ctx, name, idle, tell); err != nil {
			return err
		}
		if idle == nil {
			idle = beginIdle(ctx, d.dialPatiently, e.Idle)
		}
		d.tellIdle(ctx, s, e.Idle, idle, tell)
		return ctx.Err()
	}, nil
}

func encryption(s Session, tell backend.Tell) {
	const name = "encryption"
	switch {
	case s.TLS != "":
		tell.Fit(name, s.TLS)
	case offersTLS(s.Features):
		tell.Weak(name, "none: whoever is on the way can read the password and answer for the server", "use ftps: in the address; the server offers TLS")
	default:
		tell.Weak(name, "none, and the server does not offer TLS: whoever is on the way can read the password and answer for the server",
			"let the server offer TLS and use ftps:, or stay inside of a network that you trust")
	}
}

func offersTLS(features []string) bool {
	for _, f := range features {
		if f = strings.ToUpper(f); strings.HasPrefix(f, "AUTH") && strings.Contains(f, "TLS") {
			return true
		}
	}
	return false
}

// An idler is a connection that nobody uses.
type idler struct {
	conn   *conn
	since  time.Time
	closed error         // by the server; set before done
	done   chan struct{} // closed when the server has closed the connection, or after its time
}

// beginIdle leaves a connection idle, unless the server takes no more: then it
// returns nil.
func beginIdle(ctx context.Context, dial func(context.Context) (*conn, error), wait time.Duration) *idler {
	c, err := dial(ctx)
	if err != nil {
		return nil
	}
	i := &idler{conn: c, since: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.closed = i.watch(ctx, wait)
	}()
	context.AfterFunc(ctx, c.hangUp)
	return i
}

// idlePoll is how exactly the end of an idle connection is seen.
const idlePoll = 250 * time.Millisecond

// watch returns an error when the server has closed the connection.
func (i *idler) watch(ctx context.Context, wait time.Duration) error {
	for left := wait; left > 0; left -= idlePoll {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(left, idlePoll)):
		}
		if err := i.conn.run(ctx, func(c *conn) error { return c.control.quiet() }); err != nil && ctx.Err() == nil {
			return i.conn.told(err)
		}
	}
	return nil
}

// open reports whether the server still counts it. Nil is none.
func (i *idler) open() bool {
	if i == nil {
		return false
	}
	select {
	case <-i.done:
		return i.closed == nil
	default:
		return true
	}
}

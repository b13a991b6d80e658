package ftp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
)

const (
	manyConns = 8
	// goneTime is how long a server may take to notice that a connection of ours has ended, so
	// that it takes another one.
	goneTime = 3 * time.Second
)

// connections finds out how many connections the server takes from one address. One is the Dir's
// own, and another may be the idle one.
func (d *Dir) connections(ctx context.Context, name string, idle *idler, tell backend.Tell) error {
	if _, err := d.List(ctx, name); err != nil && !errors.Is(err, dirs.ErrRefused) {
		return err // the directory must exist, for connections to be counted
	}
	count := 1
	if idle.open() {
		count++
	}
	var all []*conn
	defer func() {
		for _, c := range all {
			c.quit(time.Second)
		}
	}()
	for ; count < manyConns; count++ {
		c, err := d.dialAgain(ctx)
		switch {
		case errors.Is(err, dirs.ErrBusy):
			tell.Weak("connections", fmt.Sprintf("the server takes %d at a time from this address: %s", count, backend.Reason(err)),
				fmt.Sprintf("let it take more: each helper needs one, so that there can be no more than %d here", count))
			return nil
		case err != nil:
			return err
		}
		all = append(all, c)
	}
	tell.Fit("connections", fmt.Sprintf("the server takes %d at a time from this address, if not more", count))
	return nil
}

// dialAgain is dial, but waits for the server to notice that connections have ended which we have
// just closed. The pauses are those of dial.
func (d *Dir) dialAgain(ctx context.Context) (c *conn, err error) {
	for begun := d.clock.Now(); ; {
		c, err = d.server.dial(ctx)
		if !errors.Is(err, dirs.ErrBusy) || d.clock.Now()-begun > goneTime {
			return c, err
		}
	}
}

// tellIdle waits for the end of an idle connection.
func (d *Dir) tellIdle(ctx context.Context, s Session, wait time.Duration, i *idler, tell backend.Tell) {
	const name, transfers = "idle limit", "transfer limit"
	if i == nil {
		tell.Unknown(name, "the server took no connection that could be left idle", "let it take more connections from one address")
		return
	}
	<-i.done
	if ctx.Err() != nil {
		return
	}
	err := i.closed
	i.conn.quit(time.Second)
	after := time.Since(i.since).Round(time.Second)
	says := d.limits(ctx, s)
	switch {
	case err == nil:
		tell.Fit(name, fmt.Sprintf("a connection was left idle for %v and stayed open%s", wait, says))
	case strings.Contains(strings.ToLower(err.Error()), "transfer"):
		tell.Weak(transfers, fmt.Sprintf("a connection without a transfer was closed within %v: %v%s", after, err, says),
			"raise it to some minutes (ProFTPD: TimeoutNoTransfer); till then helpers log in again and again")
		return
	case after < 2*keepEvery:
		tell.Weak(name, fmt.Sprintf("an idle connection was closed within %v: %v%s", after, err, says),
			"raise it to 5 minutes; till then helpers log in again and again, and may find the server full")
	default:
		tell.Fit(name, fmt.Sprintf("an idle connection was closed within %v, but locksmith is not silent for so long%s", after, says))
	}
	tell.Unknown(transfers, "whether connections are closed that transfer nothing for long shows only after minutes",
		fmt.Sprintf("none needed if it is more than %v: locksmith makes a small transfer so often (ProFTPD: TimeoutNoTransfer)", keepEvery))
}

// limitText finds what servers say about their idle limit.
var limitText = pattern(`(?i)[^\n]*(?:time-?out|inactivity|idle)[^\n]*\d[^\n]*|[^\n]*\d[^\n]*(?:time-?out|inactivity|idle)[^\n]*`)

var replyCode = pattern(`^\d{3}[ -]`)

// limits returns what the server says about its idle limit, in its own words.
func (d *Dir) limits(ctx context.Context, s Session) string {
	said := limitText().FindString(s.Status)
	if said == "" {
		said = limitText().FindString(s.Greeting)
	}
	if said == "" {
		_ = d.call(ctx, "ask for the idle limit", func(c *conn) error { // some servers know the command
			code, text, err := c.control.ask("SITE IDLE")
			if err == nil && code/100 == 2 {
				said = c.clean(text)
			}
			return err
		})
	}
	if said = strings.TrimSpace(replyCode().ReplaceAllString(said, "")); said == "" {
		return ""
	}
	return fmt.Sprintf("; the server says: %q", said)
}

// An idler is a connection that nobody uses.
type idler struct {
	conn   *conn
	since  time.Time
	closed error         // why the server closed it; set before done is closed
	done   chan struct{} // closed when the server has closed the connection, or when its time is over
}

// beginIdle leaves a connection idle. If the server takes no more connections, it returns nil.
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

// idlePoll is how exactly the end of an idle connection is noticed.
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
			return i.conn.reason(err)
		}
	}
	return nil
}

// open reports whether the server still counts the connection. i may be nil.
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

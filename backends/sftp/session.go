//go:build unix

package sftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A session makes calls on a server over one connection. It connects when it has to, and again
// after the connection was lost. Names are relative to root; "." is root itself.
type session struct {
	*connection
	root   string        // as it is sent: relative to where the log in leads, or absolute
	answer time.Duration // how long the server may take for an answer
}

// A connection is a connection with a server, or the place for the next one.
type connection struct {
	server *server

	mu     sync.Mutex
	conn   *conn // nil: not connected yet
	closed bool
}

func (s *server) newSession(root string) *session {
	return &session{&connection{server: s}, root, maxAnswer}
}

// below is the session for a directory in root, over the same connection.
func (s *session) below(name string) *session {
	return &session{s.connection, path.Join(s.root, name), s.answer}
}

// close ends the connection. No call may be made after it.
func (l *connection) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.hangUp()
}

// hangUp ends the connection. The next call makes another.
func (l *connection) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.close()
	}
}

// onEnd calls f when ctx ends, unless the function that it returns was called before: by then
// the connection that f would end may be that of the next call.
func onEnd(ctx context.Context, f func()) (over func()) {
	var mu sync.Mutex
	isOver := false
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !isOver {
			f()
		}
	})
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		isOver = true
	}
}

// at is a name as it is sent. Some servers take "~" for a home directory (ProFTPD).
func (s *session) at(name string) string {
	p := path.Join(s.root, name)
	if p[0] == '~' {
		p = "./" + p
	}
	return p
}

// connected returns the connection, or makes a new one.
func (l *connection) connected(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.closed:
		return nil, errClosed
	case l.conn != nil && l.conn.up():
		return l.conn, nil
	}
	c, err := l.server.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.conn = c
	return c, nil
}

// errClosed is the error of a call after close.
var errClosed = errors.New("the connection was closed")

// An unclearError says that a request was sent, and no answer came. As an error of the system it
// is EIO: the request may have been executed, or may be yet.
type unclearError struct{ cause error }

func (e *unclearError) Error() string   { return e.cause.Error() }
func (e *unclearError) Unwrap() []error { return []error{syscall.EIO, e.cause} }

// What a call does, for do.
const (
	reads   = false
	changes = true
)

// do makes a call. Its error is a *statusError if the server refused; or a *backend.Error, or
// ctx's, which wraps an *unclearError if something was sent and no answer came. do makes the
// call once more, on a new connection, if that can do no harm: the call was not sent because the
// connection had ended, or it changes nothing.
func (s *session) do(ctx context.Context, op string, mayChange bool, f func(*conn) error) error {
	for repeated := false; ; repeated = true {
		c, err := s.connected(ctx)
		if err != nil {
			return s.noted(ctx, op, err)
		}
		stop := onEnd(ctx, func() { c.end(ctx.Err()) })
		err = f(c)
		stop()
		var unsent *servers.UnsentError
		sent := !errors.As(err, &unsent)
		tooLong, isTooLong := errors.AsType[backend.TooLongError](err)
		switch {
		case err == nil, errors.As(err, new(*statusError)):
			return err
		case isTooLong:
			c.end(err)
			return s.server.address.Name().TooLong(op, tooLong)
		case sent && mayChange, repeated, errors.Is(err, errLate), ctx.Err() != nil:
			if sent {
				err = &unclearError{err}
			}
			return s.noted(ctx, op, s.server.address.Name().Failure(protocol.Unreachable, op, s.said(err), s.lateHint(err)))
		}
	}
}

// noted adds ctx's error to the call's own, if ctx has ended.
func (s *session) noted(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w: %w", s.server.address, op, ctx.Err(), err)
	}
	return err
}

// said adds to the error of a late answer how long we waited for it.
func (s *session) said(err error) error {
	if errors.Is(err, errLate) {
		return fmt.Errorf("%w within %v", err, s.answer)
	}
	return err
}

// lateHint is what to do if there was no answer. A short lease leaves little time for each.
func (s *session) lateHint(err error) string {
	if errors.Is(err, errLate) && s.answer < maxAnswer {
		return "choose a longer lease, with which answers may take longer (--lease); or " + servers.TryAgain
	}
	return servers.TryAgain
}

// request makes a call of one request whose answer says only whether it worked.
func (s *session) request(ctx context.Context, op string, kind byte, build func(packet) packet) error {
	return s.do(ctx, op, changes, func(c *conn) error {
		r, err := c.start(s.answer, kind, build)
		if err != nil {
			return err
		}
		return r.status()
	})
}

// lstat looks at a name without following a link. Its errors are those of do.
func (s *session) lstat(ctx context.Context, name string) (a attrs, err error) {
	err = s.do(ctx, "look at "+s.shown(name), reads, func(c *conn) error {
		r, err := c.start(s.answer, typeLstat, func(p packet) packet { return p.string(s.at(name)) })
		if err == nil {
			a, err = r.attrs()
		}
		return err
	})
	return a, err
}

// lstatFresh is lstat for a directory, in the same round trip. The server's disk may be a mount, and
// then lstat tells what that mount's server said up to a minute ago. To open a directory corrects
// that, whether it is allowed or not.
func (s *session) lstatFresh(ctx context.Context, name string) (a attrs, err error) {
	err = s.do(ctx, "look at "+s.shown(name), reads, func(c *conn) error {
		open := func(p packet) packet { return p.string(s.at(name)) }
		opened, err1 := c.start(s.answer, typeOpendir, open)
		looked, err2 := c.start(s.answer, typeLstat, open)
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
		handle, err := opened.handle()
		switch {
		case err == nil:
			_, _ = c.start(s.answer, typeClose, func(p packet) packet { return p.string(handle) }) // its answer tells nothing
		case !errors.As(err, new(*statusError)):
			return err
		}
		a, err = looked.attrs()
		return err
	})
	return a, err
}

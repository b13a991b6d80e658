package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	library "github.com/jlaffaye/ftp"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A conn is one session with a server. One goroutine at a time may use it.
type conn struct {
	server    *server
	deadlines *deadlines
	control   *control
	tls       *tls.Config // nil: in the clear
	library   *library.ServerConn
	delayTLS  bool   // the handshakes of listings wait a little (tlsDelay)
	handed    bool   // the library has the control connection
	secret    string // the password, which must stay out of messages
	source    string // where the password is stored, for people
}

// run makes a call of the library. The call ends with ctx.
func (c *conn) run(ctx context.Context, f func(*conn) error) (err error) {
	defer c.deadlines.begin(ctx)()
	c.control.verb = ""
	defer func() {
		// The library trusts some replies too much: "227 )(" makes it panic.
		if p := recover(); p != nil {
			err = fmt.Errorf("the server's reply cannot be read: %v", p)
		}
	}()
	return f(c)
}

// connect is the library's dial function. Its first connection is the control connection, which
// exists already; all others are data connections.
func (c *conn) connect(_, address string) (net.Conn, error) {
	if !c.handed {
		c.handed = true
		return c.control, nil
	}
	return c.openData(address)
}

func (c *conn) dialWire(address string) (*wire, error) {
	if err := c.deadlines.over(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.deadlines.ctx, c.deadlines.timeout)
	defer cancel()
	tcp, err := c.server.dialer(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newWire(tcp, c.deadlines), nil
}

// hangUp closes the connection without QUIT.
func (c *conn) hangUp() {
	if c.control != nil {
		_ = c.control.wire.Close() // nothing of value can be lost here
	}
}

// quit sends QUIT, waits for an answer until limit at most, and closes the connection.
func (c *conn) quit(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = c.run(ctx, func(c *conn) error { return c.library.Quit() }) // nothing depends on the answer
	c.hangUp()
}

// dial begins a session: connection, greeting, TLS, log in. If a session failed to begin, the
// next one begins later, or fails with the same error (servers.Backoff). The errors of dial
// wrap *backend.Error, or ctx's.
func (s *server) dial(ctx context.Context) (*conn, error) {
	return servers.Dial(ctx, s.backoff, s.begin)
}

func (s *server) begin(ctx context.Context) (*conn, error) {
	c := &conn{server: s, deadlines: newDeadlines(s.timeout)}
	steps := []func(context.Context) error{c.open, c.greet, c.secure, c.hand, c.logIn}
	if s.implicit() {
		steps = []func(context.Context) error{c.open, c.handshake, c.greet, c.hand, c.logIn}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			c.hangUp()
			return nil, err
		}
	}
	return c, nil
}

// open makes the control connection.
func (c *conn) open(ctx context.Context) error {
	defer c.deadlines.begin(ctx)()
	where, _ := c.server.hostPort()
	op := "connect to " + where
	w, err := c.dialWire(where)
	unknown, _ := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil:
		c.control = newControl(w, w)
		return nil
	case servers.Over(ctx) == nil && unknown != nil && unknown.IsNotFound:
		return c.server.wrong(op, err, "look at the host's name in the address")
	}
	return c.server.lost(ctx, op, err)
}

// greet reads the greeting. The library could do that, and begin TLS. But then control could not see
// its commands nor the greeting, and its data connections would stay in the clear.
func (c *conn) greet(ctx context.Context) error {
	defer c.deadlines.begin(ctx)()
	const op = "read the server's greeting"
	code, text, err := c.control.ask("")
	switch said := c.clean(fmt.Sprintf("%d %s", code, text)); {
	case errors.Is(err, os.ErrDeadlineExceeded) && servers.Over(ctx) == nil && c.tls == nil:
		return c.server.address.Name().Failure(protocol.Unreachable, op, c.reason(err), silentHint)
	case err != nil:
		return c.server.lost(ctx, op, c.reason(err))
	case needsTLS(text) && !c.server.secure() && code != 220:
		return c.server.address.Name().Failure(protocol.Permission, op, errors.New(said), "use ftps: in the address")
	case code == 120 || overfull(code, text):
		return c.server.busy(op, said)
	case code/100 == 4:
		return c.server.lost(ctx, op, errors.New(said))
	case code/100 != 2:
		return c.server.address.Name().Failure(protocol.Unreachable, op, errors.New(said), "look at the host and the port in the address")
	}
	return nil
}

// silentHint is the advice if a server takes connections and does not greet.
const silentHint = "if it waits for TLS, as on port 990, write ftps: and ?tls=implicit; else " + servers.TryAgain

// hand gives the connection to the library.
func (c *conn) hand(ctx context.Context) error {
	c.control.answer("220 greeted already")
	options := []library.DialOption{
		library.DialWithDialFunc(c.connect),
		library.DialWithDisabledUTF8(ascii(c.server.address.Path)), // saves a round trip
	}
	if c.tls != nil {
		options = append(options, library.DialWithTLS(c.tls)) // the library says PROT P when it logs in
	}
	where, _ := c.server.hostPort()
	var err error
	c.library, err = library.Dial(where, options...)
	if err != nil {
		return c.server.lost(ctx, "connect to "+where, c.reason(err))
	}
	return nil
}

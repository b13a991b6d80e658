package ftp

import (
	"context"
	"errors"
	"fmt"
	"net"

	library "github.com/jlaffaye/ftp"

	"locksmith/protocol"
)

// dial begins a session: connection, greeting, TLS, log in. After one that failed
// the next begins later, or fails like it (door). Its errors wrap *backend.Error,
// or ctx's.
func (s *server) dial(ctx context.Context) (*conn, error) {
	if err := s.door.wait(ctx); err != nil {
		return nil, err
	}
	c := &conn{server: s, pace: newPace(s.timeout)}
	for _, step := range []func(context.Context) error{c.call, c.greet, c.hand, c.logIn} {
		if err := step(ctx); err != nil {
			c.hangUp()
			if over(ctx) == nil {
				s.door.turnedAway(err)
			}
			return nil, err
		}
	}
	s.door.admitted()
	return c, nil
}

// call makes the control connection.
func (c *conn) call(ctx context.Context) error {
	defer c.pace.begin(ctx)()
	where, _ := c.server.hostPort()
	op := "connect to " + where
	w, err := c.dialWire(where)
	var unknown *net.DNSError
	switch {
	case err == nil:
		c.control = newControl(w, w)
		return nil
	case over(ctx) == nil && errors.As(err, &unknown):
		return c.server.fail(protocol.Unreachable, op, err, "look at the host's name in the address")
	}
	return c.server.lost(ctx, op, err)
}

// greet reads the greeting, and goes over to TLS where the scheme says so. The
// library could do both, but then its commands could not be seen (control), nor
// its greeting, and its data connections would stay in the clear.
func (c *conn) greet(ctx context.Context) error {
	defer c.pace.begin(ctx)()
	const op = "read the server's greeting"
	code, text, err := c.control.ask("")
	switch said := c.clean(fmt.Sprintf("%d %s", code, text)); {
	case err != nil:
		return c.server.lost(ctx, op, c.told(err))
	case needsTLS(text) && !c.server.secure() && code != 220:
		return c.server.fail(protocol.Permission, op, errors.New(said), "use ftps: in the address")
	case code == 120 || overfull(code, text):
		return c.server.busy(op, said)
	case code/100 == 4:
		return c.server.lost(ctx, op, errors.New(said))
	case code/100 != 2:
		return c.server.fail(protocol.Unreachable, op, errors.New(said), "look at the host and the port in the address")
	}
	if c.server.secure() {
		return c.secure(ctx)
	}
	return nil
}

// hand gives the connection to the library.
func (c *conn) hand(ctx context.Context) error {
	c.control.answer("220 greeted already")
	options := []library.DialOption{
		library.DialWithDialFunc(c.connect),
		library.DialWithDisabledUTF8(ascii(c.server.address.Path)), // saves a round trip
	}
	if c.tls != nil {
		options = append(options, library.DialWithTLS(c.tls)) // it says PROT P when it logs in
	}
	where, _ := c.server.hostPort()
	var err error
	c.library, err = library.Dial(where, options...)
	if err != nil {
		return c.server.lost(ctx, "connect to "+where, c.told(err))
	}
	return nil
}

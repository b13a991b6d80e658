package ftp

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	library "github.com/jlaffaye/ftp"
)

// A conn is one session with a server. It is not for use by several goroutines
// at the same time.
type conn struct {
	server  *server
	pace    *pace
	control *control
	tls     *tls.Config // nil: in the clear
	library *library.ServerConn
	gentle  bool   // the handshakes of listings wait a little
	handed  bool   // the library has the control connection
	secret  string // the password, to be kept out of messages
}

// run makes a call of the library that ends with ctx.
func (c *conn) run(ctx context.Context, f func(*conn) error) (err error) {
	defer c.pace.begin(ctx)()
	c.control.verb = ""
	defer func() {
		// The library trusts some replies too much: "227 )(" makes it panic.
		if p := recover(); p != nil {
			err = fmt.Errorf("the server's reply cannot be read: %v", p)
		}
	}()
	return f(c)
}

// connect is what the library dials with: first the control connection, which
// stands already, then data connections.
func (c *conn) connect(_, address string) (net.Conn, error) {
	if !c.handed {
		c.handed = true
		return c.control, nil
	}
	return c.openData(address)
}

func (c *conn) dialWire(address string) (*wire, error) {
	if err := c.pace.over(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.pace.ctx, c.pace.timeout)
	defer cancel()
	tcp, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newWire(tcp, c.pace), nil
}

// hangUp closes the connection without a word.
func (c *conn) hangUp() {
	if c.control != nil {
		_ = c.control.wire.Close() // nothing is lost with it
	}
}

// quit says good-bye, but does not wait for an answer.
func (c *conn) quit(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = c.run(ctx, func(c *conn) error { return c.library.Quit() }) // nothing depends on it
	c.hangUp()
}

package ftp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"locksmith/backends/backend"
)

// A data is a data connection. A listing comes on it.
type data struct {
	net.Conn // the wire, or TLS on it
	of       *conn
	wire     *wire
	haul     *backend.Haul
	last     byte // the last byte of the listing so far; 0: nothing has come
	began    bool
}

// openData connects to the port of an address, but always to the host of the control connection.
// Otherwise the server could make us connect anywhere.
func (c *conn) openData(address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(c.control.RemoteAddr().String())
	if err != nil {
		return nil, err
	}
	c.deadlines.next(c.deadlines.timeout)
	w, err := c.dialWire(net.JoinHostPort(host, port))
	if err != nil {
		return nil, &dataError{err}
	}
	d := &data{Conn: w, of: c, wire: w, haul: backend.NewHaul()}
	if c.tls != nil {
		// The handshake comes with the first read, because servers begin it only after they have
		// answered the command.
		d.Conn = tls.Client(w, c.tls)
	}
	return d, nil
}

// tlsDelay is how long the handshake waits if the server has cut a listing short before.
// pyftpdlib 1.5 sends no close_notify after an empty listing if the client's first messages
// arrive while pyftpdlib is still about to begin.
const tlsDelay = 20 * time.Millisecond

// Read implements net.Conn. It returns an error for a listing that was cut short, as far as that
// can be seen: within a line, and with TLS anywhere.
func (d *data) Read(b []byte) (int, error) {
	if !d.began {
		d.began = true
		if d.of.delayTLS && d.of.tls != nil {
			time.Sleep(tlsDelay)
		}
		d.of.deadlines.next(d.of.deadlines.timeout)
	}
	n, err := d.Conn.Read(b)
	if tooLong := d.haul.Take(bytes.Count(b[:n], []byte("\n")), n); tooLong != nil {
		return 0, tooLong
	}
	if err != nil {
		d.of.deadlines.next(brief) // for the reply that follows
	}
	if n > 0 {
		d.last = b[n-1]
	}
	if errors.Is(err, io.EOF) && d.cut() {
		return n, errCut
	}
	return n, err
}

// errCut says that a listing has no proper end.
var errCut = fmt.Errorf("the listing was cut short: %w", io.ErrUnexpectedEOF)

// cut reports whether the end came too early. TLS sends a close_notify before the connection
// ends, but Go does not insist on it.
func (d *data) cut() bool {
	return d.of.tls != nil && d.wire.eof || d.last != 0 && d.last != '\n'
}

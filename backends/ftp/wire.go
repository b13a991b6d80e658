package ftp

import (
	"errors"
	"io"
	"net"
)

// A wire is a connection on which no read or write takes longer than its pace.
type wire struct {
	net.Conn
	pace *pace
	eof  bool // the other side sends no more
	poll bool // Read takes only what is there
}

func newWire(conn net.Conn, p *pace) *wire {
	p.add(conn)
	return &wire{Conn: conn, pace: p}
}

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if err := w.pace.arm(w.SetReadDeadline); err != nil {
		return 0, err
	}
	read := w.Conn.Read
	if w.poll {
		read = w.readNow
	}
	n, err := read(b)
	w.eof = w.eof || errors.Is(err, io.EOF)
	return n, err
}

// Write implements net.Conn.
func (w *wire) Write(b []byte) (int, error) {
	if err := w.pace.arm(w.SetWriteDeadline); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.pace.remove(w.Conn)
	return w.Conn.Close()
}

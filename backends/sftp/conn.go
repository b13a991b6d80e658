//go:build unix

package sftp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/servers"
)

// A transport carries packets in both directions: the pipes of an ssh.
type transport interface {
	io.Reader
	io.Writer
	// Kill ends the transport at once, and with it every read and write, even one that hangs.
	Kill()
	// Why returns what ssh said of its end, for people. Why may wait a moment for that.
	Why() string
}

// A conn is one connection with a server. Several goroutines may make requests at the same time.
// The conn ends for good when a request cannot be sent, when a reply is late or cannot be read, or
// when a caller ends it. Then nobody knows what becomes of the requests that have no answer yet.
type conn struct {
	transport  transport
	extensions map[string]string
	in         *bufio.Reader

	writing sync.Mutex // one packet at a time

	mu      sync.Mutex
	next    uint32
	pending map[uint32]*call
	ended   error // why it ended; nil: it is up
}

// A reply is a packet without its id.
type reply struct {
	kind byte
	body []byte
}

// errLate says that the server did not answer in time.
var errLate = errors.New("no answer in time")

// newConn agrees with the server on the version, within limit, and returns the conn.
func newConn(t transport, limit time.Duration) (*conn, error) {
	c := &conn{transport: t, in: bufio.NewReader(t), pending: map[uint32]*call{}, extensions: map[string]string{}}
	timer := time.AfterFunc(limit, func() { c.end(errLate) })
	defer timer.Stop()
	err := c.greet()
	if err != nil {
		c.fail(err)
		return nil, c.why()
	}
	go c.receive()
	return c, nil
}

func (c *conn) greet() error {
	if _, err := c.transport.Write(newPacket(typeInit).uint32(version).bytes()); err != nil {
		return err
	}
	kind, body, err := readPacket(c.in)
	if err != nil {
		return err
	}
	r := reader{rest: body}
	if v := r.uint32(); kind != typeVersion || r.bad || v < version {
		return fmt.Errorf("%w: it is no greeting of version %d", errMalformed, version)
	}
	for len(r.rest) > 0 && !r.bad {
		name := r.string()
		c.extensions[name] = r.string()
	}
	if r.bad {
		return errMalformed
	}
	return nil
}

// receive hands out the replies until the connection ends.
func (c *conn) receive() {
	for {
		kind, body, err := readPacket(c.in)
		if err == nil && len(body) < 4 {
			err = errMalformed
		}
		if err != nil {
			c.fail(err)
			return
		}
		id := binary.BigEndian.Uint32(body)
		c.mu.Lock()
		sent, asked := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if !asked {
			c.end(fmt.Errorf("%w: it answers no request", errMalformed))
			return
		}
		sent.timer.Stop()
		sent.reply <- reply{kind, body[4:]}
	}
}

// end ends the connection, and with it all requests. Only the first cause counts.
func (c *conn) end(cause error) {
	c.mu.Lock()
	first := c.ended == nil
	if first {
		c.ended = cause
		for id, sent := range c.pending {
			delete(c.pending, id)
			sent.timer.Stop()
			close(sent.reply)
		}
	}
	c.mu.Unlock()
	if first {
		c.transport.Kill()
	}
}

// A lostError says why a connection ended.
type lostError struct {
	cause error
	said  string // by ssh
}

func (e *lostError) Error() string {
	if text := lastLines(e.said); text != "" {
		return text
	}
	if errors.Is(e.cause, io.EOF) || errors.Is(e.cause, io.ErrUnexpectedEOF) || errors.Is(e.cause, syscall.EPIPE) {
		return "the connection has ended"
	}
	return e.cause.Error()
}

func (e *lostError) Unwrap() error { return e.cause }

// fail ends the connection after an error of reading or writing, and adds to the cause what ssh
// said.
func (c *conn) fail(cause error) {
	if c.up() {
		c.end(&lostError{cause, c.transport.Why()})
	}
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// up reports whether the connection is up, as far as that is known.
func (c *conn) up() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended == nil
}

// knows reports whether the server has said that it knows an extension.
func (c *conn) knows(extension string) bool { return c.extensions[extension] == "1" }

// A call is a request that was sent. Its answer may be left unread.
type call struct {
	conn  *conn
	reply chan reply  // closed when the connection has ended
	timer *time.Timer // ends the connection if the answer is late
}

// start sends a request under a new id. build adds what follows the id. If the answer does not come
// within limit, the connection ends. That also ends a start that hangs while it sends.
func (c *conn) start(limit time.Duration, kind byte, build func(packet) packet) (*call, error) {
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return nil, &servers.UnsentError{Cause: c.ended}
	}
	c.next++
	id := c.next
	sent := &call{c, make(chan reply, 1), time.AfterFunc(limit, func() { c.end(errLate) })}
	c.pending[id] = sent
	c.mu.Unlock()
	c.writing.Lock()
	_, err := c.transport.Write(build(newPacket(kind).uint32(id)).bytes())
	c.writing.Unlock()
	if err != nil {
		c.fail(err)
		return nil, c.why()
	}
	return sent, nil
}

// result waits for the reply.
func (c *call) result() (reply, error) {
	r, ok := <-c.reply
	if !ok {
		return reply{}, c.conn.why()
	}
	return r, nil
}

// malformed ends the connection after a reply that cannot be understood.
func (c *call) malformed() error {
	c.conn.end(errMalformed)
	return errMalformed
}

// close ends the connection, as a client does that has no more to ask.
func (c *conn) close() { c.end(errors.New("it was closed")) }

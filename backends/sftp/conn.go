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
	// Kill ends it at once, whatever hangs, and every read and write.
	Kill()
	// Why returns what it said of its end, for people. It may wait a moment for that.
	Why() string
}

// A conn is one session with a server. Several goroutines may make requests at the same time. It
// ends for good with the first reply that is late or cannot be read. Then nobody knows what
// becomes of the requests on the way.
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

// dial agrees on the version with a server.
func dial(t transport, limit time.Duration) (*conn, error) {
	c := &conn{transport: t, in: bufio.NewReader(t), pending: map[uint32]*call{}, extensions: map[string]string{}}
	timer := time.AfterFunc(limit, func() { c.end(errLate) })
	defer timer.Stop()
	err := c.greet()
	if err != nil {
		c.failed(err)
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
			c.failed(err)
			return
		}
		id := binary.BigEndian.Uint32(body)
		c.mu.Lock()
		of, asked := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if !asked {
			c.end(fmt.Errorf("%w: nobody has asked for it", errMalformed))
			return
		}
		of.limit.Stop()
		of.reply <- reply{kind, body[4:]}
	}
}

// end ends the connection, and with it all requests.
func (c *conn) end(cause error) {
	c.mu.Lock()
	first := c.ended == nil
	if first {
		c.ended = cause
		for id, of := range c.pending {
			delete(c.pending, id)
			of.limit.Stop()
			close(of.reply)
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

// failed ends the connection after an error of its own.
func (c *conn) failed(cause error) {
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

// A call is a request that was sent. Nobody has to wait for its answer.
type call struct {
	conn  *conn
	reply chan reply // closed when the connection has ended
	limit *time.Timer
}

// start sends a request, which build makes, and gives it an id. If there is no answer in time,
// the connection ends. To send may hang, too.
func (c *conn) start(limit time.Duration, kind byte, build func(packet) packet) (*call, error) {
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return nil, &servers.UnsentError{Cause: c.ended}
	}
	c.next++
	id := c.next
	of := &call{c, make(chan reply, 1), time.AfterFunc(limit, func() { c.end(errLate) })}
	c.pending[id] = of
	c.mu.Unlock()
	c.writing.Lock()
	_, err := c.transport.Write(build(newPacket(kind).uint32(id)).bytes())
	c.writing.Unlock()
	if err != nil {
		c.failed(err)
		return nil, c.why()
	}
	return of, nil
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

package ftp

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A wire is a connection on which no read or write exceeds its deadlines.
type wire struct {
	net.Conn
	deadlines *deadlines
	eof       bool // the other side sends no more
	poll      bool // Read takes only what has arrived
}

func newWire(conn net.Conn, p *deadlines) *wire {
	p.add(conn)
	return &wire{Conn: conn, deadlines: p}
}

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if err := w.deadlines.arm(w.SetReadDeadline); err != nil {
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
	if err := w.deadlines.arm(w.SetWriteDeadline); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.deadlines.remove(w.Conn)
	return w.Conn.Close()
}

// deadlines say how long a server may take. The library knows neither contexts nor a limit for a
// single command, so our end of its connections keeps both.
type deadlines struct {
	timeout time.Duration // for each command with its replies and its listing

	mu    sync.Mutex
	ctx   context.Context // of the current call
	calls int
	limit time.Duration // for the current command
	until time.Time     // when the current command must be over
	open  map[net.Conn]bool
}

func newDeadlines(timeout time.Duration) *deadlines {
	return &deadlines{timeout: timeout, ctx: context.Background(), open: map[net.Conn]bool{}}
}

// begin makes all reads and writes end with ctx, until the returned function is called.
func (p *deadlines) begin(ctx context.Context) (end func()) {
	p.mu.Lock()
	p.calls++
	p.ctx = ctx
	call := p.calls
	p.mu.Unlock()
	p.next(p.timeout)
	stop := context.AfterFunc(ctx, func() { p.interrupt(call) })
	return func() {
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ctx = context.Background()
	}
}

// next begins the time of the next command.
func (p *deadlines) next(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = min(limit, p.timeout)
	p.until = time.Now().Add(p.limit)
}

// brief is how long a server may take for quick work. A connection may be dead although nobody
// has closed it. A heartbeat on it must fail early enough to be made again on another one.
const brief = 10 * time.Second

// replyTime is how long the first reply to a command may take.
func (p *deadlines) replyTime(verb string) time.Duration {
	if changes(verb) || verb == "RNFR" || listens(verb) || lists(verb) {
		return brief
	}
	return p.timeout
}

// interrupt ends the reads and writes of a call, but not those of a later one.
func (p *deadlines) interrupt(call int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if call != p.calls {
		return
	}
	for conn := range p.open {
		_ = conn.SetDeadline(time.Unix(1, 0)) // fails only if there is nothing to end
	}
}

// arm sets the deadline of the next read or write.
func (p *deadlines) arm(set func(time.Time) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.ctx.Err(); err != nil {
		return err
	}
	until := p.until
	if end, ok := p.ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	return set(until)
}

// over returns the error of the call's context.
func (p *deadlines) over() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctx.Err()
}

func (p *deadlines) add(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[conn] = true
}

func (p *deadlines) remove(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

package ftpserver

import (
	"bufio"
	"io"
	"net"
	"strings"
	"time"
)

// A link is one control connection through a proxy.
type link struct {
	proxy  *Proxy
	index  int
	client *net.TCPConn

	// Under the proxy's mu:
	server *net.TCPConn // nil before it is dialed
	fault  *armed
	answer *Fault // what happens in place of the next reply
	silent bool   // Stall has happened
	half   bool   // one side has closed
}

// arm sets a fault, or makes it happen at once if it waits for nothing. The caller holds the
// proxy's mu.
func (l *link) arm(f Fault) {
	if f.immediate() {
		l.fault = nil
		l.act(f, nil)
		return
	}
	l.fault = &armed{Fault: f}
}

// run connects a client to the server and returns when both are done. If the proxy itself is to
// answer a new connection, that connection still gets a server, for what follows. Other faults
// that wait for nothing happen before the server is dialed.
func (l *link) run(f Fault, planned bool) {
	l.proxy.mu.Lock()
	greet := planned && f.immediate() && f.Do == Reply
	switch {
	case greet:
		l.answer = &f
	case planned:
		l.arm(f)
	}
	over := l.silent || planned && f.immediate() && !greet
	l.proxy.mu.Unlock()
	if over || !l.connect() {
		return
	}
	replies := make(chan struct{})
	go func() {
		defer close(replies)
		l.down()
		l.ended(l.client)
	}()
	l.up()
	l.ended(l.server)
	<-replies
}

// ended tells the other side that one side has closed. A stalled link tells nobody.
func (l *link) ended(other *net.TCPConn) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if l.silent {
		return
	}
	_ = other.CloseWrite() // it may be closed
	if l.half {
		l.close()
	}
	l.half = true
}

// connect dials the server. Without one the client is turned away.
func (l *link) connect() bool {
	conn, err := net.DialTimeout("tcp", l.proxy.target, startLimit)
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if err != nil {
		l.close()
		return false
	}
	l.server = conn.(*net.TCPConn)
	if l.proxy.listener == nil { // the test has ended, or Refuse came just after this connection
		l.close()
	}
	return true
}

// linger sets for how many seconds after close written bytes may still be delivered.
func (l *link) linger(seconds int) {
	_ = l.client.SetLinger(seconds) // it may be closed
	if l.server != nil {
		_ = l.server.SetLinger(seconds)
	}
}

// close closes both ways. The caller holds the proxy's mu.
func (l *link) close() {
	l.client.Close()
	if l.server != nil {
		l.server.Close()
	}
}

// up passes commands to the server. TLS begins with a byte that no command has; from there on
// there are no lines.
func (l *link) up() {
	const handshake = 0x16
	r := bufio.NewReader(l.client)
	for {
		first, err := r.Peek(1)
		if err != nil {
			return
		}
		if first[0] == handshake {
			l.passUp(r)
			return
		}
		line, err := r.ReadString('\n')
		if err != nil || !l.command(line) {
			return
		}
	}
}

// passUp passes encrypted bytes to the server.
func (l *link) passUp(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if err != nil || l.isSilent() {
			return
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (l *link) isSilent() bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.silent
}

// command records a command and passes it, unless a fault happens Before it. It returns false if
// no further command passes.
func (l *link) command(line string) bool {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.silent {
		return false
	}
	bare := strings.TrimRight(line, "\r\n")
	p.commands = append(p.commands, Command{Conn: l.index, At: time.Now(), Line: bare})
	var f *Fault
	if l.fault.onCommand(bare) {
		f, l.fault = &l.fault.Fault, nil
	}
	if f != nil && f.At == Before {
		return l.act(*f, nil)
	}
	if f != nil && f.At == Answered {
		l.answer = f
	}
	if _, err := io.WriteString(l.server, line); err != nil {
		return false
	}
	return f == nil || f.At != Sent || l.act(*f, nil)
}

// down passes replies to the client.
func (l *link) down() {
	buf := make([]byte, 4096)
	for {
		n, err := l.server.Read(buf)
		if err != nil {
			return
		}
		time.Sleep(l.proxy.pause())
		if !l.reply(buf[:n]) {
			return
		}
	}
}

func (p *Proxy) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

// reply passes a reply, or what a fault leaves of it. It returns false if no further reply
// passes.
func (l *link) reply(text []byte) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if l.silent {
		return false
	}
	if f := l.answer; f != nil {
		l.answer = nil
		return l.act(*f, text)
	}
	pass, hit := l.fault.onReply(len(text))
	if _, err := l.client.Write(text[:pass]); err != nil {
		return false
	}
	if !hit {
		return true
	}
	f := l.fault.Fault
	l.fault = nil
	return l.act(f, text[pass:])
}

package ftpserver

import (
	"net"
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
	answer *Fault // what to do in place of passing the next reply
	silent bool   // Stall has happened
	half   bool   // one side has closed
}

// arm sets a fault, or makes it happen if it waits for nothing. The caller holds
// the proxy's mu.
func (l *link) arm(f Fault) {
	if f.immediate() {
		l.fault = nil
		l.act(f, nil)
		return
	}
	l.fault = &armed{Fault: f}
}

// run connects a client to the server and returns when both are done. A new
// connection that is to be answered by the proxy still gets a server, for what
// follows; other faults that wait for nothing come before it.
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

// ended passes on that one side has closed. A stalled link tells nobody.
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
	conn, err := net.DialTimeout("tcp", l.proxy.target, 5*time.Second)
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if err != nil {
		l.close()
		return false
	}
	l.server = conn.(*net.TCPConn)
	if l.proxy.listener == nil { // the test has ended, or this one just came in
		l.close()
	}
	return true
}

// linger sets how long what was written may still be on its way after close.
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

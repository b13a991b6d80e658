package ftpserver

import (
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab"
)

// Every stands for all connections, open and new, in place of the index of one.
const Every = -1

// A Proxy passes control connections on to a server, byte by byte, until a fault is set. Data
// connections go past the proxy, because the server names a port of its own for them.
//
// Connections count from 0 in the order in which they come.
type Proxy struct {
	Addr string // 127.0.0.1:port

	t      testing.TB
	target string
	all    sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while it refuses
	links    []*link
	planned  map[int]Fault // for connections to come
	delay    time.Duration
	commands []Command
}

// A Command is a line that a client sent in the clear; after AUTH TLS none is.
type Command struct {
	Conn int
	At   time.Time
	Line string // without line end
}

// StartProxy starts a proxy before a server. It runs until the test ends.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	port := lab.ReservePort(t)
	p := &Proxy{
		Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		t:    t, target: target, planned: map[int]Fault{},
	}
	p.Accept()
	t.Cleanup(p.close)
	return p
}

// Fail sets the fault of a connection, in place of one set before. The next connection to come
// has the index Conns().
func (p *Proxy) Fail(conn int, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		if conn == Every || conn == l.index {
			l.arm(f)
		}
	}
	if conn == Every || conn >= len(p.links) {
		p.planned[conn] = f
	}
}

// Heal takes back the delay, and all faults that have not happened yet.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.planned)
	p.delay = 0
	for _, l := range p.links {
		l.fault = nil
	}
}

// Delay holds each reply back for d.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Conns returns how many connections have come.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Commands returns the commands seen since the last Reset.
func (p *Proxy) Commands() []Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.commands)
}

// Reset forgets the commands seen.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = nil
}

// Refuse makes new connections fail, as if no server listened.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = release(p.listener) // it listens no more in any case
		p.listener = nil
	}
}

// Accept ends Refuse.
func (p *Proxy) Accept() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return
	}
	listener, err := listen(p.Addr)
	if err != nil {
		p.t.Errorf("proxy: %v", err)
		return
	}
	p.listener = listener
	p.all.Go(func() { p.serve(listener) })
}

func (p *Proxy) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		p.admit(client.(*net.TCPConn))
	}
}

// admit makes a link of a connection.
func (p *Proxy) admit(client *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &link{proxy: p, index: len(p.links), client: client}
	f, planned := p.planned[l.index]
	if !planned {
		f, planned = p.planned[Every]
	}
	delete(p.planned, l.index)
	p.links = append(p.links, l)
	if p.listener == nil {
		l.close()
		return
	}
	p.all.Go(func() { l.run(f, planned) })
}

func (p *Proxy) close() {
	p.Refuse()
	p.mu.Lock()
	for _, l := range p.links {
		l.close()
	}
	p.mu.Unlock()
	p.all.Wait()
}

package etcdserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A relay passes on what other members say to one member, unless one of both is cut off.
type relay struct {
	listener net.Listener
	target   string
	cut      func(from string) bool // whether it is, or the member whose id that is

	mu    sync.Mutex
	conns map[net.Conn]string // with whose they are
}

func startRelay(t testing.TB, target string, cut func(from string) bool) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, target: target, cut: cut, conns: map[net.Conn]string{}}
	t.Cleanup(func() {
		_ = l.Close()
		r.sever(func(string) bool { return true })
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.pass(conn)
		}
	}()
	return r
}

func (r *relay) url() string { return "http://" + r.listener.Addr().String() }

// pass reads the header of the first request on a connection, which says whose it is. Each connection
// is of one member.
func (r *relay) pass(conn net.Conn) {
	defer conn.Close()
	var head strings.Builder
	from := bufio.NewReader(conn)
	request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(oneByOne{from}, &head)))
	if err != nil {
		return
	}
	id := request.Header.Get("X-Server-From")
	if r.cut(id) {
		return
	}
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	r.mu.Lock()
	r.conns[conn] = id
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	if _, err := io.WriteString(to, head.String()); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(to, from); done <- struct{}{} }()
	go func() { _, _ = io.Copy(conn, to); done <- struct{}{} }()
	<-done
}

// oneByOne is a reader from which nobody reads ahead.
type oneByOne struct{ io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

// sever ends the connections of some members.
func (r *relay) sever(whose func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn, id := range r.conns {
		if whose(id) {
			_ = conn.Close()
		}
	}
}

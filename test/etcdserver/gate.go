//go:build unix

package etcdserver

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// A Gate stands between clients and a member. At one of their requests, counted over all connections, it
// does something, and ends the connection: before the request arrives, or when it was executed,
// before its answer arrives.
type Gate struct {
	Addr   string
	target string
	at     int // which request; 0: none
	after  bool
	do     func()

	mu       sync.Mutex
	requests int
}

// NewGate opens a gate to the first member.
func (c *Cluster) NewGate(t testing.TB, at int, after bool, do func()) *Gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	g := &Gate{Addr: l.Addr().String(), target: c.Host(0), at: at, after: after, do: do}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go g.pass(conn)
		}
	}()
	return g
}

// Requests is how many there were.
func (g *Gate) Requests() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests
}

// due counts a request, and reports whether it is the one.
func (g *Gate) due() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests++
	return g.requests == g.at
}

// pass passes on what both sides say on a connection.
func (g *Gate) pass(conn net.Conn) {
	defer conn.Close()
	to, err := net.Dial("tcp", g.target)
	if err != nil {
		return
	}
	defer to.Close()
	const preface = 24 // octets, by which HTTP/2 begins
	if _, err := io.CopyN(to, conn, preface); err != nil {
		return
	}
	executed, done := make(chan struct{}), make(chan struct{}, 2)
	end := func() { _ = conn.Close(); _ = to.Close(); done <- struct{}{} }
	go func() {
		defer end()
		frames(to, conn, func(kind byte) bool {
			if kind != data || !g.due() {
				return true
			}
			if g.after {
				close(executed)
				return true
			}
			g.do()
			return false
		})
	}()
	go func() {
		defer end()
		frames(conn, to, func(kind byte) bool {
			select {
			case <-executed:
				if kind == data || kind == headers {
					g.do()
					return false
				}
			default:
			}
			return true
		})
	}()
	<-done
	<-done
}

// The types of frames in which requests and answers are (RFC 9113).
const data, headers = 0, 1

// frames copies frames, until one may not pass. Those without a content need not ask.
func frames(to io.Writer, from io.Reader, may func(kind byte) bool) {
	for {
		frame := make([]byte, 9)
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(frame) >> 8
		frame = append(frame, make([]byte, size)...)
		if _, err := io.ReadFull(from, frame[9:]); err != nil {
			return
		}
		if kind := frame[3]; size > 0 && !may(kind) {
			return
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

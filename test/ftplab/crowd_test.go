//go:build unix

package ftplab

import (
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
)

// crowd: more helpers come than the server lets in. All get the lock, one after the other.
func crowd(t *testing.T, kind, style string) {
	helpers, limit := 12, 5
	if *long {
		helpers, limit = 60, 50
	}
	p := start(t, kind, style, ftpserver.Options{MaxConns: limit})
	h := contest.NewLog(t)
	begin := time.Now()
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() { p.succeeds(p.guarded(h, "exclusive", time.Millisecond)) })
	}
	wg.Wait()
	if n := len(h.Check(t, p.style == "dir").Held); n != helpers {
		t.Errorf("%d of %d helpers got the lock", n, helpers)
	}
	figure(t, "crowd", "server=%s helpers=%d limit=%d seconds=%.1f", kind, helpers, limit, time.Since(begin).Seconds())
	p.atRest()
}

// full: if the server takes no more clients, a command that does not wait says so.
func full(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{MaxConns: 2})
	leave1, leave2 := occupy(p), occupy(p)
	for _, args := range [][]string{
		{"run", "--timeout", "0", p.address(), "--", "true"},
		{"run", "--timeout", "5s", p.address(), "--", "true"},
		{"status", p.address()},
	} {
		status, said := p.do(args...)
		if status != protocol.Unreachable.Exit() && status != protocol.Held.Exit() || !strings.Contains(said, "turns clients away") {
			t.Errorf("%q: exit status %d: %s", args, status, said)
		}
		t.Logf("%s: %s", args[0], said)
	}
	waiter := p.wait()
	waiter.Silent(time.Millisecond)
	leave1()
	leave2()
	lab.InTurn(waiter)
	p.atRest()
}

// occupy logs in a user who does nothing, so that the server has room for one client less. It
// waits until there is room: the server may still count clients that have left.
func occupy(p *place) (leave func()) {
	p.t.Helper()
	var conn net.Conn
	refusal := ""
	lab.Eventually(p.t, "the server lets us in", func() (in bool) {
		conn, refusal = logIn(p)
		return refusal == ""
	}, func() string { return refusal })
	p.t.Cleanup(func() { conn.Close() })
	return func() { conn.Close() }
}

func logIn(p *place) (conn net.Conn, refusal string) {
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		return nil, err.Error()
	}
	c := textproto.NewConn(conn)
	for _, command := range []string{"", "USER " + p.server.User, "PASS " + p.server.Password} {
		if command != "" {
			_ = c.PrintfLine("%s", command) // a failure shows in the answer
		}
		if code, text, err := c.ReadResponse(0); err != nil || code >= 400 {
			conn.Close()
			return nil, command + ": " + text
		}
	}
	return conn, ""
}

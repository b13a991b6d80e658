package ftplab

import (
	"bytes"
	"context"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// crowd: more helpers than the server lets in. All get the lock, one after the
// other.
func crowd(t *testing.T, kind string) {
	helpers, limit := 60, 50
	if kind != "vsftpd" && !*long {
		helpers, limit = 12, 5
	}
	p := start(t, kind, "plain", ftpserver.Options{MaxConns: limit})
	h := newHistory(t)
	begin := time.Now()
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 3*waitLimit)
			defer cancel()
			cmd := p.locksmith(ctx, "run", p.address(), "--", built.Path(t, "witness"), h.file, "exclusive", "1ms")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, &stderr)
			}
		})
	}
	wg.Wait()
	if n := len(h.check(t, p.style).held); n != helpers {
		t.Errorf("%d of %d got the lock", n, helpers)
	}
	figure(t, "crowd", "server=%s helpers=%d limit=%d seconds=%.1f", kind, helpers, limit, time.Since(begin).Seconds())
	p.atRest()
}

// full: a server that takes no more clients says so to who does not wait.
func full(t *testing.T, kind string) {
	p := start(t, kind, "plain", ftpserver.Options{MaxConns: 2})
	close1, close2 := occupy(t, p), occupy(t, p)
	for _, args := range [][]string{
		{"run", "--timeout", "0", p.address(), "--", "true"},
		{"run", "--timeout", "5s", p.address(), "--", "true"},
		{"status", p.address()},
	} {
		status, said := p.do(args...)
		if status != 69 && status != 75 || !strings.Contains(said, "turns clients away") {
			t.Errorf("%q: exit status %d: %s", args, status, said)
		}
		t.Logf("%s: %s", args[0], said)
	}
	waiter := p.hold()
	time.Sleep(300 * time.Millisecond)
	waiter.silent()
	close1()
	close2()
	waiter.held()
	waiter.release()
	p.atRest()
}

// occupy takes a place at a server, by a user who does nothing.
func occupy(t *testing.T, p *place) (leave func()) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.addr, waitLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	c := textproto.NewConn(conn)
	for _, command := range []string{"", "USER " + p.server.User, "PASS " + p.server.Password} {
		if command != "" {
			_ = c.PrintfLine("%s", command) // the answer tells
		}
		if code, text, err := c.ReadResponse(0); code < 200 || code >= 400 {
			t.Fatalf("%q: %d %q, %v", command, code, text, err)
		}
	}
	return func() { conn.Close() }
}

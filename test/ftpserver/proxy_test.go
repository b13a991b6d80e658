package ftpserver

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// behind starts the embedded server, which runs everywhere, and a proxy before it.
func behind(t *testing.T) (*Server, *Proxy) {
	t.Helper()
	s := Start(t, "embedded", Options{})
	return s, StartProxy(t, s.Addr)
}

// TestProxyPoints: whether a failed command was executed depends on the fault's point.
func TestProxyPoints(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    Fault
		executed bool
	}{
		{"cut before", Fault{At: Before, Do: Cut}, false},
		{"cut after it was sent", Fault{At: Sent, Do: Cut}, true},
		{"cut after the answer", Fault{At: Answered, Do: Cut}, true},
		{"reset before", Fault{At: Before, Do: Reset}, false},
		{"reset after the answer", Fault{At: Answered, Do: Reset}, true},
		{"another answer", Fault{At: Before, Do: Reply, Text: "421 Service not available"}, false},
		{"another answer afterwards", Fault{At: Answered, Do: Reply, Text: "450 Busy"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, p := behind(t)
			c.fault.Verb, c.fault.Command = "MKD", 2
			p.Fail(p.Conns(), c.fault)
			client := login(t, s, p.Addr)
			if err := client.MakeDir("/first"); err != nil {
				t.Fatal(err)
			}
			err := client.MakeDir("/second")
			t.Log(err)
			if err == nil {
				t.Error("the command that was to fail succeeded")
			}
			if there := appears(filepath.Join(s.Dir, "second"), c.executed); there != c.executed {
				t.Errorf("the command was executed: %v, want %v", there, c.executed)
			}
			login(t, s, p.Addr) // the next connection has no fault
		})
	}
}

// appears reports whether a file exists. If it is expected, it is waited for.
func appears(name string, expected bool) bool {
	for limit := time.Now().Add(lab.Patience); ; time.Sleep(time.Millisecond) {
		_, err := os.Stat(name)
		if err == nil || !expected || time.Now().After(limit) {
			return err == nil
		}
	}
}

// TestProxyTruncate reads the connection itself: Go's clients take a line that ends with the
// connection for a whole line.
func TestProxyTruncate(t *testing.T) {
	_, p := behind(t)
	p.Fail(0, Fault{Verb: "NOOP", Command: 1, At: Answered, Do: Truncate})
	conn := dialRaw(t, p.Addr)
	if _, err := conn.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "NOOP\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(string(answer), "200") || strings.HasSuffix(string(answer), "\n") {
		t.Errorf("the truncated answer is %q, want a beginning of 200 without a line end", answer)
	}
}

// TestProxyGoesOn: after an answer other than 421 the session goes on.
func TestProxyGoesOn(t *testing.T) {
	s, p := behind(t)
	c := login(t, s, p.Addr)
	p.Fail(0, Fault{Command: 1, At: Before, Do: Reply, Text: "550 No"})
	if err := c.MakeDir("/L"); err == nil {
		t.Error("the command was not refused")
	}
	if err := c.MakeDir("/L"); err != nil {
		t.Error(err)
	}
}

func TestProxyReplies(t *testing.T) {
	_, p := behind(t)
	p.Fail(Every, Fault{Replies: 2, Do: Cut})
	for range 2 {
		conn := dialRaw(t, p.Addr)
		buf := make([]byte, 100)
		n, _ := conn.Read(buf)
		if string(buf[:n]) != "22" {
			t.Errorf("the proxy passed %q, want the first two bytes, \"22\"", buf[:n])
		}
		if _, err := conn.Read(buf); err == nil {
			t.Error("the connection is not cut after them")
		}
	}
}

func TestProxyReset(t *testing.T) {
	s, p := behind(t)
	conn := dialRaw(t, p.Addr)
	buf := make([]byte, 100)
	if _, err := conn.Read(buf); err != nil {
		t.Fatal(err)
	}
	p.Fail(Every, Fault{Do: Reset})
	if _, err := conn.Read(buf); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("an open connection: %v", err)
	}
	p.Heal()
	login(t, s, p.Addr)
}

// TestProxyStall: a stalled connection is silent, and is not closed.
func TestProxyStall(t *testing.T) {
	_, p := behind(t)
	conn := dialRaw(t, p.Addr)
	buf := make([]byte, 100)
	if _, err := conn.Read(buf); err != nil {
		t.Fatal(err)
	}
	p.Fail(Every, Fault{Do: Stall})
	for _, conn := range []net.Conn{conn, dialRaw(t, p.Addr)} {
		if _, err := conn.Write([]byte("NOOP\r\n")); err != nil {
			t.Error(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Error(err)
		}
		if _, err := conn.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a stalled connection is not silent: %q, %v", buf, err)
		}
	}
}

func TestProxyGreeting(t *testing.T) {
	s, p := behind(t)
	p.Fail(0, Fault{Do: Reply, Text: "421 Service not available"})
	if _, err := dial(t, s, p.Addr); err == nil || !strings.Contains(err.Error(), "421") {
		t.Errorf("dial: %v", err)
	}
	login(t, s, p.Addr)
}

func TestProxyRefuse(t *testing.T) {
	s, p := behind(t)
	c := login(t, s, p.Addr)
	p.Refuse()
	if _, err := dial(t, s, p.Addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v", err)
	}
	if err := c.NoOp(); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	p.Accept()
	login(t, s, p.Addr)
}

func TestProxyDelay(t *testing.T) {
	s, p := behind(t)
	c := login(t, s, p.Addr)
	p.Delay(50 * time.Millisecond)
	start := time.Now()
	if err := c.NoOp(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("the reply took %v, want at least the delay of 50 ms", took)
	}
}

// TestProxyCommands: the proxy records commands in the clear, and with TLS those before it
// begins.
func TestProxyCommands(t *testing.T) {
	s, p := behind(t)
	c := login(t, s, p.Addr)
	p.Reset()
	if err := c.MakeDir("/L"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.NameList("/"); err != nil {
		t.Fatal(err)
	}
	if got := lines(p); !slices.Equal(got, []string{"MKD /L", "EPSV", "NLST /"}) {
		t.Errorf("commands: %q", got)
	}

	s = Start(t, "embedded", Options{TLS: true})
	p = StartProxy(t, s.Addr)
	if err := login(t, s, p.Addr).MakeDir("/L"); err != nil {
		t.Fatal(err)
	}
	if got := lines(p); !slices.Equal(got, []string{"AUTH TLS"}) {
		t.Errorf("commands with TLS: %q", got)
	}
}

func lines(p *Proxy) (all []string) {
	for _, c := range p.Commands() {
		all = append(all, c.Line)
	}
	return all
}

func dialRaw(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, lab.Patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(lab.Patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

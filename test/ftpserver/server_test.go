package ftpserver

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jlaffaye/ftp"

	"locksmith/test/lab"
)

// TestKinds: every server keeps the rules that locks rest on.
func TestKinds(t *testing.T) {
	for _, kind := range Kinds() {
		for name, o := range map[string]Options{"plain": {}, "TLS": {TLS: true}, "TLS12": {TLS: true, TLS12: true}} {
			if Supports(kind, o) != nil {
				continue
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := Start(t, kind, o)
				directories(t, s, login(t, s, s.Addr))
				s.Restart()
				c := login(t, s, s.Addr)
				if kind == "proftpd" && o.TLS12 {
					unresumed(t, s, c)
					return
				}
				listings(t, s, c)
			})
		}
	}
}

// TestPortsAreReserved: nobody else gets a server's port, not even while the server is down; the
// server itself gets it again and again.
func TestPortsAreReserved(t *testing.T) {
	t.Parallel()
	port := lab.ReservePort(t)
	for range 3 {
		if giveBack, err := lab.Reserve(port); err == nil {
			giveBack()
			t.Fatalf("port %d was given away twice", port)
		}
		l, err := listen(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		if giveBack, err := lab.Reserve(port); err == nil {
			giveBack()
			t.Fatalf("port %d was given away while a server listens", port)
		}
		if err := release(l); err != nil {
			t.Fatal(err)
		}
	}
}

// directories makes, renames and removes directories.
func directories(t *testing.T, s *Server, c *ftp.ServerConn) {
	t.Helper()
	at := func(name string) string { return path.Join(s.Home, name) }
	allowed := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s succeeded", what)
		}
	}
	allowed("MKD", c.MakeDir(at("L")))
	refused("MKD of what exists", c.MakeDir(at("L")))
	refused("MKD without a parent", c.MakeDir(at("none/L")))
	allowed("MKD", c.MakeDir(at("one")))
	allowed("MKD", c.MakeDir(at("one/file")))
	allowed("MKD", c.MakeDir(at("two")))
	allowed("MKD", c.MakeDir(at("two/file")))
	allowed("rename onto an empty directory", c.Rename(at("one"), at("L")))
	refused("rename onto a directory that is not empty", c.Rename(at("two"), at("L")))
	refused("RMD of a directory that is not empty", c.RemoveDir(at("L")))
	refused("RMD of what is not there", c.RemoveDir(at("one")))
	allowed("RMD", c.RemoveDir(at("two/file")))
	allowed("RMD", c.RemoveDir(at("two")))
	if _, err := os.Stat(filepath.Join(s.Dir, "L/file")); err != nil {
		t.Error(err)
	}
}

// listings lists the home, with its only directory, several times.
func listings(t *testing.T, s *Server, c *ftp.ServerConn) {
	t.Helper()
	for range 4 {
		names, err := c.NameList(s.Home)
		if err != nil {
			t.Fatalf("NLST: %v", err)
		}
		named := func(n string) bool { return path.Base(n) == "L" }
		if !slices.ContainsFunc(names, named) {
			t.Errorf("NLST names %q, without L", names)
		}
	}
}

// unresumed: ProFTPD without TLS 1.3 has no session tickets, and Go's client
// resumes with tickets only.
func unresumed(t *testing.T, s *Server, c *ftp.ServerConn) {
	t.Helper()
	if names, err := c.NameList(s.Home); err == nil {
		t.Errorf("NLST without session reuse: %q", names)
	}
}

// TestRestart: a restart ends all sessions, and keeps the files.
func TestRestart(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := Start(t, kind, Options{})
			c := login(t, s, s.Addr)
			if err := c.MakeDir(path.Join(s.Home, "L")); err != nil {
				t.Fatal(err)
			}
			s.Stop()
			if err := c.NoOp(); err == nil {
				t.Error("a session outlives its server")
			}
			if _, err := dial(t, s, s.Addr); err == nil {
				t.Error("the server answers after Stop")
			}
			s.Restart()
			if err := login(t, s, s.Addr).RemoveDir(path.Join(s.Home, "L")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMaxConns(t *testing.T) {
	for _, kind := range Kinds() {
		o := Options{MaxConns: 2}
		if Supports(kind, o) != nil {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := Start(t, kind, o)
			// A server may count clients for a moment after they have left.
			var last *ftp.ServerConn
			lets := func() bool { c, err := dial(t, s, s.Addr); last = c; return err == nil }
			lab.Eventually(t, "one is let in", lets)
			lab.Eventually(t, "two are let in", lets)
			_, err := dial(t, s, s.Addr)
			t.Logf("the third: %v", err)
			if err == nil {
				t.Error("a third connection is let in")
			}
			if err := last.Quit(); err != nil {
				t.Error(err)
			}
			lab.Eventually(t, "another is let in after one has left", lets)
		})
	}
}

// TestIdle: the server says 421 to a silent session and ends it.
func TestIdle(t *testing.T) {
	for _, kind := range Kinds() {
		o := Options{Idle: time.Second}
		if Supports(kind, o) != nil {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := Start(t, kind, o)
			conn := dialRaw(t, s.Addr)
			start := time.Now()
			if _, err := fmt.Fprintf(conn, "USER %s\r\nPASS %s\r\n", s.User, s.Password); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(conn)
			t.Logf("%v: %s", time.Since(start), said)
			if err != nil || !strings.Contains(string(said), "\n421") {
				t.Errorf("the silent session is not told 421: %v", err)
			}
		})
	}
}

// TestUnconfined: the account logs in to its home, and sees the directories above it.
func TestUnconfined(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := Start(t, kind, Options{Unconfined: true})
			c := login(t, s, s.Addr)
			if at, err := c.CurrentDir(); at != s.Dir || err != nil {
				t.Errorf("the login leads to %q, %v, want %q", at, err, s.Dir)
			}
			if err := c.MakeDir("L"); err != nil {
				t.Error("make a directory in its home:", err)
			}
			if err := c.RemoveDir(path.Join(s.Dir, "L")); err != nil {
				t.Error("remove it by its whole path:", err)
			}
		})
	}
}

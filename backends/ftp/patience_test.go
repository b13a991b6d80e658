package ftp

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/backendtest"
)

// TestPatience: what an FTP server may answer, or fail to answer, and whether that may pass.
func TestPatience(t *testing.T) {
	t.Parallel()
	reset := func(c *talk) {
		_ = c.Conn.(*net.TCPConn).SetLinger(0)
		c.cut()
	}
	answers := func(verb string, how func(*talk)) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend { return lockAt(t, startFake(t).when(verb, how).dir().server) }
	}
	hangs := func(verb string, within time.Duration) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			s := startFake(t).when(verb, (*talk).hang).dir().server
			b := lockAt(t, s)
			s.timeout = within
			return b
		}
	}
	dials := func(err error) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			s := startFake(t).dir().server
			s.dialer = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
			}
			return lockAt(t, s)
		}
	}
	for name, troubles := range map[string]map[backendtest.Trouble]func(*testing.T) backend.Backend{
		"connecting": {
			backendtest.Refused:    dials(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			backendtest.NoRoute:    dials(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
			backendtest.NameServer: dials(&net.DNSError{Err: "server misbehaving", Name: "host", IsTemporary: true}),
			backendtest.NoSuchHost: dials(&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}),
			backendtest.Silent:     hangs(greeting, time.Second),
			backendtest.Reset:      answers(greeting, reset),
			backendtest.Busy:       answers(greeting, says("421 Too many connections")),
			backendtest.Failing:    answers(greeting, says("500 OOPS: vsftpd: refusing to run")),
			backendtest.Foreign:    answers(greeting, says("SSH-2.0-OpenSSH_9.2")),
			backendtest.Forbidden:  answers(greeting, says("421 TLS is required")),
			backendtest.Untrusted: func(t *testing.T) backend.Backend {
				f := startFake(t)
				f.offerTLS()
				return lockAt(t, f.dir(func(a *backend.Address, _ *backend.Access) { a.Scheme = SchemeTLS }).server)
			},
		},
		"logging in": {
			backendtest.Silent:    hangs("PASS", time.Second),
			backendtest.Reset:     answers("USER", reset),
			backendtest.Busy:      answers("PASS", says("530 Sorry, too many users")),
			backendtest.Throttled: answers("USER", says("421 Try again in an hour")),
			backendtest.Failing:   answers("PASS", says("451 Local error")),
			backendtest.Foreign:   answers("USER", says("HTTP/1.1 200 OK")),
			backendtest.Forbidden: answers("PASS", says("530 Login incorrect.")),
		},
		"locking": {
			backendtest.Silent:  hangs("MKD", 100*time.Millisecond), // each of many MKD waits for it
			backendtest.Reset:   answers("MKD", reset),
			backendtest.Busy:    answers("MKD", says("421 Service not available, closing control connection")),
			backendtest.Foreign: answers("MKD", says("HTTP/1.1 200 OK")),
			backendtest.Wrong:   answers("MKD", says("550 No such directory")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backendtest.Patience(t, troubles)
		})
	}
}

// lockAt is a lock at a server.
func lockAt(t *testing.T, s *server) backend.Backend {
	t.Helper()
	s.backoff.Clock = swift{}
	b, err := Open(s.address, s.access)
	if err != nil {
		t.Fatal(err)
	}
	lockOf(b).NewDir = func() dirs.Dir { return s.newDir() }
	return b
}

package ftp

import (
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// idle is how long servers bear silence: longer than a login takes on a busy machine.
const idle = 5 * time.Second

// eachWith runs a test at every server that has the options.
func eachWith(t *testing.T, o ftpserver.Options, test func(*testing.T, *ftpserver.Server)) {
	for _, kind := range ftpserver.Kinds() {
		if ftpserver.Supports(kind, o) == nil {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				test(t, ftpserver.Start(t, kind, o))
			})
		}
	}
}

// TestIdle: a server that has hung up meanwhile is noticed before anything is
// said to it, so nothing is unclear.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, o := range []ftpserver.Options{{Idle: idle}, {Idle: idle, TLS: true}} {
		eachWith(t, o, func(t *testing.T, s *ftpserver.Server) {
			d, ctx := connectTo(t, s, s.Addr), soon(t)
			if err := d.Mkdir(ctx, "L"); err != nil {
				t.Fatal(err)
			}
			awaitHangUp(t, d)
			if err := d.Mkdir(ctx, "L/x.1"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestIdleKept: listings keep a connection open.
func TestIdleKept(t *testing.T) {
	t.Parallel()
	for _, o := range []ftpserver.Options{{Idle: idle}, {NoTransfer: idle}} {
		eachWith(t, o, func(t *testing.T, s *ftpserver.Server) {
			d, ctx := connectTo(t, s, s.Addr), soon(t)
			d.keepalive.every = 500 * time.Millisecond
			if err := d.Mkdir(ctx, "L"); err != nil {
				t.Fatal(err)
			}
			before := d.conn
			time.Sleep(idle + 2*time.Second)
			if err := d.Mkdir(ctx, "L/x.1"); err != nil {
				t.Error(err)
			}
			if d.conn != before {
				t.Error("the server hung up")
			}
		})
	}
}

// TestBusy: a server that takes no more clients says so, and takes them later.
func TestBusy(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{MaxConns: 1}, func(t *testing.T, s *ftpserver.Server) {
		first, second := connectTo(t, s, s.Addr), connectTo(t, s, s.Addr)
		eventually(t, func() bool { return first.Mkdir(soon(t), "L") == nil }) // once it has forgotten its start
		if err := second.Mkdir(soon(t), "other"); come(err) != "busy" {
			t.Errorf("%s: %v", come(err), err)
		}
		first.Close()
		eventually(t, func() bool { return second.Mkdir(soon(t), "other") == nil })
	})
}

// TestRefused: what the account may not do.
func TestRefused(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{NoRmdir: true, DenyRename: true}, func(t *testing.T, s *ftpserver.Server) {
		d := connectTo(t, s, s.Addr)
		if err := d.Mkdir(soon(t), "L"); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{d.Rmdir(soon(t), "L"), d.Rename(soon(t), "L", "other")} {
			if come(err) != "refused" {
				t.Errorf("%s: %v", come(err), err)
			}
		}
		holds(t, d, ".", "L")
	})
}

// TestWrongPassword: every server's refusal is understood.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{}, func(t *testing.T, s *ftpserver.Server) {
		if s.Password == "" {
			return // it lets everybody in
		}
		s.Password += "wrong"
		d := connectTo(t, s, s.Addr)
		d.server.timeout = 14 * time.Second // Pure-FTPd takes its time to refuse
		if err := d.Mkdir(soon(t), "L"); come(err) != "permission" {
			t.Errorf("%s: %v", come(err), err)
		}
	})
}

// TestTLSDemanded: a server that wants TLS is not spoken to in the clear.
func TestTLSDemanded(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{TLS: true}, func(t *testing.T, s *ftpserver.Server) {
		s.CA = ""
		if err := connectTo(t, s, s.Addr).Mkdir(soon(t), "L"); come(err) != "permission" {
			t.Errorf("%s: %v", come(err), err)
		}
	})
}

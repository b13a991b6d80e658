package ftp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/ftpserver"
)

// idle is how long servers bear silence. It is longer than a log in takes on a busy machine.
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

// TestIdle: if a server has hung up in the meantime, that is noticed before a command is sent, so
// nothing is unclear.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, o := range []ftpserver.Options{{Idle: idle}, {Idle: idle, TLS: true}} {
		eachWith(t, o, func(t *testing.T, s *ftpserver.Server) {
			d := connectTo(t, s, s.Addr)
			mustMake(t, d, "L")
			awaitHangUp(t, d)
			mustMake(t, d, "L/x.1")
		})
	}
}

// mustMake makes a directory at a server that bears no silence. A machine that is too busy may let
// the server hang up during the log in. Then nothing is unclear, and there is another try.
func mustMake(t *testing.T, d *Dir, name string) {
	t.Helper()
	eventually(t, func() bool {
		begun := d.clock.Now()
		err := d.Mkdir(soon(t), name)
		hungUp := slices.Contains([]string{"busy", "unreachable"}, come(err)) && d.clock.Now()-begun > idle/2
		if err != nil && !hungUp {
			t.Fatal(err)
		}
		return err == nil
	})
}

// TestIdleKept: listings keep a connection open.
func TestIdleKept(t *testing.T) {
	t.Parallel()
	for _, o := range []ftpserver.Options{{Idle: idle}, {NoTransfer: idle}} {
		eachWith(t, o, func(t *testing.T, s *ftpserver.Server) {
			d := connectTo(t, s, s.Addr)
			d.keepalive.every = 500 * time.Millisecond
			for !kept(t, d, idle+2*time.Second) {
				t.Log("this machine was too slow: again")
			}
			mustMake(t, d, "L")
		})
	}
}

// kept makes sure that a connection stays open for some time. It returns false if we were silent
// for so long that the server may have closed it.
func kept(t *testing.T, d *Dir, during time.Duration) bool {
	t.Helper()
	listing := d.clock.Now()
	switch _, err := d.List(soon(t), "."); {
	case err == nil || errors.Is(err, dirs.ErrRefused):
	case backend.Passes(err) && d.clock.Now()-listing > idle/2: // it hung up before the listing
		return false
	default:
		t.Fatal(err)
	}
	var before *conn
	for begun := d.clock.Now(); d.clock.Now()-begun < during; time.Sleep(50 * time.Millisecond) {
		d.busy <- struct{}{}
		now, silent := d.conn, d.clock.Now()-d.keepalive.transfer
		d.leave()
		before = cmp.Or(before, now)
		switch {
		case silent > idle/2:
			return false
		case now != before || now == nil:
			t.Fatal("the server hung up")
		}
	}
	return true
}

// TestBusy: a server that takes no more clients says so, and takes them later.
func TestBusy(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{MaxConns: 1}, func(t *testing.T, s *ftpserver.Server) {
		first, second := connectTo(t, s, s.Addr), connectTo(t, s, s.Addr)
		made := 0
		getsIn := func(d *Dir) bool { // with another name each time: the last answer may have come too late
			made++
			return d.Mkdir(soon(t), fmt.Sprint("d", made)) == nil
		}
		eventually(t, func() bool { return getsIn(first) }) // once the server has forgotten the connection of its start
		if err := second.Mkdir(soon(t), "other"); come(err) != "busy" {
			t.Errorf("a client too many gets %s (%v), want busy", come(err), err)
		}
		first.Close()
		eventually(t, func() bool { return getsIn(second) })
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
				t.Errorf("a command that the server forbids comes out %s (%v), want refused", come(err), err)
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
			return // this server lets everybody in
		}
		s.Password += "wrong"
		d := connectTo(t, s, s.Addr)
		d.server.access.Password = func(string, string) (string, string, error) { return s.Password, "~/.netrc", nil }
		if err := d.Mkdir(soon(t), "L"); come(err) != "permission" || !strings.Contains(err.Error(), "which is from ~/.netrc") {
			t.Errorf("a wrong password gives %s (%v), want permission and where it is from", come(err), err)
		}
	})
}

// TestTLSDemanded: if a server wants TLS, we do not talk to it in the clear.
func TestTLSDemanded(t *testing.T) {
	t.Parallel()
	eachWith(t, ftpserver.Options{TLS: true}, func(t *testing.T, s *ftpserver.Server) {
		s.CA = ""
		if err := connectTo(t, s, s.Addr).Mkdir(soon(t), "L"); come(err) != "permission" {
			t.Errorf("a server that demands TLS gives %s (%v), want permission", come(err), err)
		}
	})
}

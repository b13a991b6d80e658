package ftp

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
)

// TestSilence: wherever a server falls silent, the call ends.
func TestSilence(t *testing.T) {
	t.Parallel()
	mkdir := func(t *testing.T, d dirs.Dir) error { return d.Mkdir(soon(t), "L") }
	list := func(t *testing.T, d dirs.Dir) error { _, err := d.List(soon(t), "L"); return err }
	tests := []struct {
		name, verb string
		answer     func(*talk)
		call       func(*testing.T, dirs.Dir) error
		want       string
	}{
		{"greeting", greeting, (*talk).hang, mkdir, "unreachable"},
		{"half a greeting", greeting, func(c *talk) { c.say("220-hello"); c.hang() }, mkdir, "unreachable"},
		{"USER", "USER", (*talk).hang, mkdir, "unreachable"},
		{"PASS", "PASS", (*talk).hang, mkdir, "unreachable"},
		{"FEAT", "FEAT", (*talk).hang, mkdir, "unreachable"},
		{"half of FEAT", "FEAT", func(c *talk) { c.say("211-Features"); c.hang() }, mkdir, "unreachable"},
		{"TYPE", "TYPE", (*talk).hang, mkdir, "unreachable"},
		{"half a reply", "MKD", func(c *talk) { _, _ = io.WriteString(c.Conn, "257 ma"); c.hang() }, mkdir, "unclear"},
		{"EPSV", "EPSV", (*talk).hang, list, "unreachable"},
		{"NLST", "NLST", (*talk).hang, list, "unclear"},
		{"data", "NLST", func(c *talk) { c.say("150 here it comes"); c.hang() }, list, "unclear"},
		{"half of the data", "NLST", func(c *talk) {
			c.say("150 here it comes")
			conn, _ := c.accepted()
			_, _ = io.WriteString(conn, "a\r\nb")
			c.hang()
		}, list, "unclear"},
		{"end of the data", "NLST", func(c *talk) { c.say("150 here it comes"); c.send("a\r\n"); c.hang() }, list, "unclear"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when(tt.verb, tt.answer)
			d := f.hasty()
			if tt.want == "unclear" {
				d = f.calm(tt.verb)
			}
			start := time.Now()
			if err := tt.call(t, d); come(err) != tt.want || time.Since(start) > late {
				t.Errorf("the server falls silent at %s: the call is %s after %v, want %s after %v at most; its error is %v; look at judge (outcome.go)", tt.name, come(err), time.Since(start), tt.want, late, err)
			}
		})
	}
}

// TestListAgain: a listing without an answer is made again on a new connection, because servers
// lose data connections.
func TestListAgain(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"EPSV", "NLST"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			f := startFake(t).when(verb, func(c *talk) {
				if asked.Add(1) == 1 {
					c.hang()
				}
				c.obey()
			})
			d := f.dir()
			d.connect(t)
			d.conn.deadlines.timeout = impatient
			if verb == "NLST" {
				f.when("EPSV", func(c *talk) { // on every connection
					d.conn.deadlines.timeout = lasting
					if asked.Load() == 0 {
						d.conn.deadlines.timeout = impatient
					}
					c.obey()
				})
				d.conn.deadlines.timeout = lasting
			}
			names, err := d.List(soon(t), "L")
			if err != nil || !slices.Equal(names, []string{"a", "bb"}) || asked.Load() != 2 {
				t.Errorf("the listing gives %q with the error %v after the server was asked %d times; want a and bb, after two", names, err, asked.Load())
			}
		})
	}
}

// TestSilenceTLS: TestSilence before and within TLS.
func TestSilenceTLS(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*fake) *Dir{
		"AUTH": func(f *fake) *Dir { return f.when("AUTH", (*talk).hang).secureDir() },
		"handshake": func(f *fake) *Dir {
			return f.when("AUTH", func(c *talk) { c.obey(); c.hang() }).secureDir()
		},
		"USER": func(f *fake) *Dir { return f.when("USER", (*talk).hang).secureDir() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := make(startFake(t))
			d.server.timeout = 2 * time.Second
			start := time.Now()
			if err := d.Mkdir(soon(t), "L"); come(err) != "unreachable" || time.Since(start) > late {
				t.Errorf("the server falls silent at %s: the call is %s after %v, want unreachable after %v at most; its error is %v", name, come(err), time.Since(start), late, err)
			}
		})
	}
}

// TestFlood: a reply without end ends, too, long before its time is over.
func TestFlood(t *testing.T) {
	t.Parallel()
	pour := func(text string) func(*talk) {
		return func(c *talk) {
			for {
				if _, err := io.WriteString(c.Conn, text); err != nil {
					return
				}
			}
		}
	}
	for name, text := range map[string]string{"line": strings.Repeat("2", 4096), "lines": "250-more\r\n", "replies": "100 wait\r\n", "empty": "\r\n"} {
		for _, verb := range []string{greeting, "FEAT", "MKD"} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				t.Parallel()
				d := startFake(t).when(verb, pour(text)).dir()
				start := time.Now()
				err := d.Mkdir(soon(t), "L")
				if err == nil || (come(err) == "unclear") != (verb == "MKD") || time.Since(start) > late {
					t.Errorf("the reply to %s (%q: the greeting) has no end: the call is %s after %v, want an error after %v at most, which is unclear for MKD alone; its error is %v; look at judge (outcome.go)", verb, greeting, come(err), time.Since(start), late, err)
				}
			})
		}
	}
}

// TestDrip: a command as a whole has a limit, not each byte of its answer.
func TestDrip(t *testing.T) {
	t.Parallel()
	d := startFake(t).when("MKD", func(c *talk) {
		for {
			if _, err := io.WriteString(c.Conn, "250-x\r\n"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}).calm("MKD")
	start := time.Now()
	if err := d.Mkdir(soon(t), "L"); come(err) != "unclear" || time.Since(start) > late {
		t.Errorf("the reply to MKD comes line by line without end: the call is %s after %v, want unclear after %v at most; its error is %v", come(err), time.Since(start), late, err)
	}
}

// A piped connection goes to a server in the same bubble. The library wants an address of TCP.
type piped struct{ net.Conn }

func (piped) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv6loopback} }

// TestSlow: each command has its own time.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, over: make(chan struct{}), on: map[string]func(*talk){}}
		slow := func(c *talk) { time.Sleep(2 * time.Second); c.obey() }
		for _, verb := range []string{"USER", "PASS", "FEAT", "TYPE"} {
			f.when(verb, slow)
		}
		s, err := newServer(backend.Address{Scheme: SchemePlain, Host: "fake", Path: "//dir/L"}, backend.Access{})
		if err != nil {
			t.Fatal(err)
		}
		s.dialer = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go (&talk{fake: f, Conn: theirs}).serve()
			return piped{ours}, nil
		}
		s.timeout, s.backoff.Clock = 7*time.Second, clock.Runtime{}
		d := s.newDir()
		d.clock = clock.Runtime{}
		if err := d.Mkdir(t.Context(), "L"); err != nil {
			t.Error(err)
		}
		d.Close()
	})
}

// TestClose: Close does not wait for a server that does not answer.
func TestClose(t *testing.T) {
	t.Parallel()
	f := startFake(t).when("QUIT", (*talk).hang)
	d := f.dir()
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	d.conn.quit(time.Minute)
	if time.Since(start) > late {
		t.Errorf("a server does not answer QUIT, and the connection is closed after %v, want %v at most", time.Since(start), late)
	}
	eventually(t, func() bool { return len(f.sent("QUIT")) == 1 })
}

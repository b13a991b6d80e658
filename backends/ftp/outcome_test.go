package ftp

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
)

// come says what a call led to.
func come(err error) string {
	var e *backend.Error
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, dirs.ErrRefused):
		return "refused"
	case errors.Is(err, dirs.ErrUnclear):
		return "unclear"
	case errors.Is(err, dirs.ErrBusy):
		return "busy"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "over"
	case errors.As(err, &e):
		return string(e.Code)
	}
	return "strange: " + err.Error()
}

func says(reply string) func(*talk) { return func(c *talk) { c.say(reply) } }

// first does one thing in the first session, and obeys in later ones.
func first(do func(*talk)) func(*talk) {
	return func(c *talk) {
		if c.number > 1 {
			c.obey()
		} else {
			do(c)
		}
	}
}

func half(c *talk) {
	_, _ = io.WriteString(c.Conn, "25")
	c.cut()
}

func reset(c *talk) {
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	c.cut()
}

// TestOutcomes: what each reply makes of a call, and how often the call is then made.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, verb string
		answer     func(*talk)
		want       string
		sent       int // how often the last command was sent
	}{
		{"other success", "", says("200 fine"), "done", 1},
		{"success of many lines", "", says("250-done\r\n 421 in all\r\n250 done"), "done", 1},
		{"end of a listing", "", says("226 listed once more\r\n550 no"), "unclear", 1},
		{"goodbye", "", says("221 you were idle"), "unclear", 1},
		{"refused", "", says("550 no"), "refused", 1},
		{"refused otherwise", "", says("451 no"), "refused", 1},
		{"refused in many lines", "", says("553-no\r\nnever\r\n553 no"), "refused", 1},
		{"busy", "", says("421 not now"), "busy", 2},
		{"busy once", "", first(says("421 not now")), "done", 2},
		{"cut", "", first((*talk).cut), "unclear", 1},
		{"reset", "", first(reset), "unclear", 1},
		{"half a reply", "", first(half), "unclear", 1},
		{"half of many lines", "", first(func(c *talk) { c.say("250-almost"); c.cut() }), "unclear", 1},
		{"silence", "", (*talk).hang, "unclear", 1},
		{"garbage", "", says("hello"), "unclear", 1},
		{"no code", "", says("abc hello"), "unclear", 1},
		{"no number", "", says("999 hello"), "unclear", 1},
		{"preliminary", "", says("150 wait"), "unclear", 1},
		{"intermediate", "", says("350 more"), "unclear", 1},
		{"empty line", "", says("\r\n250 done"), "unclear", 1},
	}
	calls := map[string]func(*Dir) error{
		"MKD":  func(d *Dir) error { return d.Mkdir(soon(t), "L") },
		"RMD":  func(d *Dir) error { return d.Rmdir(soon(t), "L") },
		"RNTO": func(d *Dir) error { return d.Rename(soon(t), "L.r.1", "L") },
	}
	for _, tt := range tests {
		for verb, call := range calls {
			t.Run(tt.name+"/"+verb, func(t *testing.T) {
				t.Parallel()
				f := startFake(t).when(verb, tt.answer)
				d := f.dir()
				if tt.name == "silence" {
					d = f.calm(verb)
				}
				err := call(d)
				if got := come(err); got != tt.want || len(f.sent(verb)) != tt.sent {
					t.Errorf("the server answers %s with %q: the call is %s after the command was sent %d times; want %s after %d; its error is %v; look at judge (outcome.go)", verb, tt.name, got, len(f.sent(verb)), tt.want, tt.sent, err)
				}
				f.when(verb, (*talk).obey)
				if err := d.Mkdir(soon(t), "other"); err != nil {
					t.Error("afterwards:", err)
				}
			})
		}
	}
}

// TestOutcomesOfRNFR: without RNTO nothing is changed.
func TestOutcomesOfRNFR(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(*talk)
		want   string
		sent   int
	}{
		{"refused", says("550 no"), "refused", 0},
		{"busy once", first(says("421 not now")), "done", 1},
		{"cut once", first((*talk).cut), "done", 1},
		{"cut", (*talk).cut, "unreachable", 0},
		{"silence", (*talk).hang, "unreachable", 0},
		{"odd success", says("250 renamed what"), "unreachable", 0},
		{"cut after the answer", first(func(c *talk) { c.obey(); c.cut() }), "done", 1},
		{"two answers", first(says("350 to?\r\n250 renamed")), "done", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when("RNFR", tt.answer)
			d := f.dir()
			if tt.name == "silence" {
				d = f.hasty()
			}
			err := d.Rename(soon(t), "L.r.1", "L")
			// Whether the end comes before RNTO is chance.
			chance := tt.name == "cut after the answer" && come(err) == "unclear"
			if got := come(err); !chance && (got != tt.want || len(f.sent("RNTO")) != tt.sent) {
				t.Errorf("the server answers RNFR with %q: the rename is %s after RNTO was sent as %q; want %s after %d; its error is %v; look at judge (outcome.go)", tt.name, got, f.sent("RNTO"), tt.want, tt.sent, err)
			}
		})
	}
}

// TestStale: if something arrives while nobody looks, it is noticed before a command is sent.
func TestStale(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(*talk){
		"closed":           func(c *talk) { c.say("257 made"); c.cut() },
		"421":              func(c *talk) { c.say("257 made"); c.say("421 too long idle"); c.cut() },
		"421 at once":      func(c *talk) { c.say("257 made\r\n421 too long idle") },
		"two answers":      func(c *talk) { c.say("257 made\r\n257 made") },
		"half of a second": func(c *talk) { _, _ = io.WriteString(c.Conn, "257 made\r\n25") },
	} {
		for _, tls := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/TLS"}[tls], func(t *testing.T) {
				t.Parallel()
				f := startFake(t).when("MKD", first(after))
				d := f.dir()
				if tls {
					d = f.secureDir()
				}
				if err := d.Mkdir(soon(t), "L"); err != nil {
					t.Fatal(err)
				}
				awaitHangUp(t, d)
				if err := d.Mkdir(soon(t), "L/x.1"); err != nil {
					t.Error(err)
				}
				if got := f.sent("MKD"); len(got) != 2 || got[1] != "2 MKD /dir/L/x.1" {
					t.Errorf("MKD was sent as %q, want the second over a second connection, with its whole path", got)
				}
			})
		}
	}
}

// TestCancel: when the context ends, a waiting call ends at once.
func TestCancel(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{greeting: "over", "PASS": "over", "MKD": "unclear"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(soon(t))
			d := startFake(t).when(verb, func(c *talk) { cancel(); c.hang() }).dir()
			start := time.Now()
			err := d.Mkdir(ctx, "L")
			if come(err) != want || !errors.Is(err, context.Canceled) || time.Since(start) > late {
				t.Errorf("the context ends while %s waits for an answer: the call is %s after %v, want %s after %v at most, with the context's error; its error is %v", verb, come(err), time.Since(start), want, late, err)
			}
			if err := d.Mkdir(ctx, "L"); come(err) != "over" {
				t.Errorf("a call that is over from the start: %v", err)
			}
		})
	}
}

// TestDeadline: if the context's deadline is earlier, it counts.
func TestDeadline(t *testing.T) {
	t.Parallel()
	d := startFake(t).when("MKD", (*talk).hang).dir()
	holds(t, d, "L", "a", "bb")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	start := time.Now()
	err := d.Mkdir(ctx, "L")
	if come(err) != "unclear" || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > late {
		t.Errorf("MKD hangs, and the context's deadline is in 3s: the call is %s after %v, want unclear after %v at most, with the deadline's error; its error is %v", come(err), time.Since(start), late, err)
	}
}

// TestUnreachable: nobody is there, or nobody knows the host.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	f.listener.Close()
	for _, host := range []string{f.listener.Addr().String(), "no-such-host.invalid"} {
		d := f.dir(func(a *backend.Address, _ *backend.Access) { a.Host = host })
		var e *backend.Error
		if err := d.Mkdir(soon(t), "L"); !errors.As(err, &e) || e.Code != protocol.Unreachable || e.Hint == "" {
			t.Errorf("the host %s gives %v, want code %s and a hint", host, err, protocol.Unreachable)
		}
	}
}

package ftp

import (
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// FuzzNames: no listing yields names that lead elsewhere.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a\r\nb", "L/a", "/", "..", "./..", "//", "\x00", "a/\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, listing string) {
		for _, name := range names(strings.Split(listing, "\n")) {
			if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
				t.Errorf("%q gives %q", listing, name)
			}
		}
	})
}

// FuzzReplies: whatever a server sends, on either connection, nothing panics or hangs, and only a
// success is taken for one.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{"250 ok\r\n", "250-", "\x00\xff", "227 )(\r\n", "229 (|||0|)\r\n", "421\r\n", "150 x\r\n226 y\r\n", "257-a\n257 b\n257 c\n", "-25 x\r\n", "226"} {
		for stage := range len(stages) {
			f.Add(byte(stage), s)
		}
	}
	f.Fuzz(func(t *testing.T, stage byte, reply string) {
		verb := stages[int(stage)%len(stages)]
		fake := startFake(t).when(verb, func(c *talk) { _, _ = io.WriteString(c.Conn, reply); c.cut() })
		switch verb {
		case "PASV":
			fake.when("EPSV", says("500 no"))
		case "data":
			fake.when("NLST", func(c *talk) { c.say("150 go"); c.send(reply); c.say("226 done") })
			fake.when("LIST", func(c *talk) { c.say("150 go"); c.send(reply); c.say("226 done") })
		}
		d := fake.within(400 * time.Millisecond)
		defer d.Close()
		start := time.Now()
		made := d.Mkdir(soon(t), "L")
		for _, call := range []func(){
			func() { _ = d.Rename(soon(t), "L", "L.r.1") },
			func() { _, _ = d.List(soon(t), "L") },
			func() { _, _ = d.Entries(soon(t), "L") },
			func() { _, _ = d.Session(soon(t)) },
		} {
			d.server.backoff.Succeeded() // no time for its pauses
			call()
		}
		if made == nil && verb == "MKD" && !strings.HasPrefix(reply, "2") {
			t.Errorf("%q was a success", reply)
		}
		if took := time.Since(start); took > lasting {
			t.Errorf("%s %q took %v", verb, reply, took)
		}
	})
}

var stages = []string{greeting, "USER", "PASS", "FEAT", "TYPE", "MKD", "RNFR", "RNTO", "EPSV", "PASV", "NLST", "LIST", "STAT", "data"}

// FuzzConversation: the server's answers are the pieces of a made-up text, one after the other,
// and then the usual ones. Nothing panics or hangs, and only a success is taken for one.
func FuzzConversation(f *testing.F) {
	for _, s := range []string{
		"220 hi\r\n|331 go\r\n|230 in\r\n|211-F\r\n UTF8\r\n211 E\r\n|200 T\r\n|257 made\r\n", "220 a\r\n220 b\r\n", "421 busy\r\n", "220-x\r\n220y\r\n220 z\r\n",
		"220 hi\r\n|530 no\r\n", "220 hi\r\n|230 in\r\n|500\r\n|200 T\r\n|550 exists\r\n", "||||||", "220 \xff\x00\r\n|331 \x1b[2J\r\n", "220 hi\r\n|331 go\r\n|230 in\r\n|211-F\r\n|211 E",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, all string) {
		pieces := strings.Split(all, "|")
		if len(pieces) > 12 {
			return
		}
		var mu sync.Mutex
		fake := startFake(t)
		next := func(c *talk) {
			mu.Lock()
			if len(pieces) == 0 {
				mu.Unlock()
				c.obey()
				return
			}
			piece := pieces[0]
			pieces = pieces[1:]
			mu.Unlock()
			if _, _ = io.WriteString(c.Conn, piece); !strings.HasSuffix(piece, "\n") {
				c.cut()
			}
		}
		for _, verb := range []string{greeting, "USER", "PASS", "FEAT", "TYPE", "OPTS", "MKD", "RMD", "RNFR", "RNTO"} {
			fake.when(verb, next)
		}
		d := fake.within(400 * time.Millisecond)
		defer d.Close()
		start := time.Now()
		for range 3 {
			d.server.backoff.Succeeded()
			if err := d.Mkdir(soon(t), "L"); err == nil && len(fake.sent("MKD")) == 0 {
				t.Errorf("%q made a directory without a word", all)
			}
		}
		_ = d.Rmdir(soon(t), "L")
		if took := time.Since(start); took > lasting {
			t.Errorf("%q took %v", all, took)
		}
	})
}

// FuzzControl: the control connection gives the library whole lines, and for one command no more
// than it may. A reply that was read ends where the server's reply ends.
func FuzzControl(f *testing.F) {
	for _, s := range []string{
		"250 ok\r\n", "250-a\r\n 250 b\r\n250 c\r\n", "250-a\r\n251 b\r\n250 c\n", "SSH-2.0\r\n", "2500 x\r\n", "250", "250-\r\n", "\r\n", "١٢٣ x\r\n",
		"250 " + strings.Repeat("x", maxLine), "250-" + strings.Repeat("x\r\n", maxReply/3), "421 bye\r\n", "-25 x\r\n", "+25 x\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		c := newControl(wordOf{strings.NewReader(stream)}, nil)
		code, text, err := c.ask("")
		taken := maxReply - c.left
		if err != nil {
			return
		}
		if code < 100 || code > 999 || !strings.HasPrefix(stream, strconv.Itoa(code)) {
			t.Errorf("%.100q is %d %.100q", stream, code, text)
		}
		if taken > maxReply || !strings.HasSuffix(stream[:taken], "\n") || len(text) > taken {
			t.Errorf("%.100q: took %d bytes for %.100q", stream, taken, text)
		}
	})
}

// wordOf is a connection on which somebody has sent a text, and nothing else.
type wordOf struct{ *strings.Reader }

func (wordOf) Close() error                     { return nil }
func (wordOf) LocalAddr() net.Addr              { return nil }
func (wordOf) RemoteAddr() net.Addr             { return nil }
func (wordOf) Write(b []byte) (int, error)      { return len(b), nil }
func (wordOf) SetDeadline(time.Time) error      { return nil }
func (wordOf) SetReadDeadline(time.Time) error  { return nil }
func (wordOf) SetWriteDeadline(time.Time) error { return nil }

// FuzzPath: a name that is accepted for a lock, or for something in it, is one command for the
// server and no pattern, and does not lead out of the directory.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"L", "L/x.60000-00", "../x", "/etc", "a\r\nDELE b", "-la", "~root", "*", " x", "x ", ".x", "a//b", "a/./b", strings.Repeat("x", 256), "\u202e", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for lock, dir := range map[string]string{"/L": "", "/dir/L": "dir/", "//L": "/", "//dir/L": "/dir/"} {
			s, err := newServer(backend.Address{Scheme: SchemePlain, Host: "h", Path: lock}, backend.Access{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.at(name)
			if err != nil {
				if strings.ContainsFunc(err.Error(), protocol.IsControl) || len(err.Error()) > 1000 {
					t.Errorf("the refusal of the name %q is too long or has control characters: %q", name, err)
				}
				continue
			}
			below, in := strings.CutPrefix(p, dir)
			if name != "." && (!in || below == "" || strings.ContainsRune("/-~", rune(below[0]))) || strings.ContainsAny(p, "*?[") || strings.ContainsFunc(p, protocol.IsControl) {
				t.Errorf("%q leads to %q", name, p)
			}
			if err := checkCommand([]byte("MKD " + p + "\r\n")); err != nil {
				t.Errorf("the name %q makes a command that must not be sent: %v", name, err)
			}
		}
	})
}

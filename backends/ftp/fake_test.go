package ftp

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// A fake is a server that answers as a test says. Without instructions all commands succeed.
type fake struct {
	t        testing.TB
	listener net.Listener
	over     chan struct{}

	mu       sync.Mutex
	tls      *tls.Config
	implicit bool // TLS begins before the greeting
	on       map[string]func(*talk)
	got      []string // "1 MKD /dir/L": number of the session, command
	session  int
	listing  string
}

// A talk is one session of a fake, with the command that is being answered.
type talk struct {
	*fake
	net.Conn
	number  int
	verb    string
	data    net.Listener
	private bool // data connections use TLS
}

func startFake(t testing.TB) *fake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, listener: listener, over: make(chan struct{}), on: map[string]func(*talk){}, listing: "a\r\nbb\r\n"}
	t.Cleanup(func() {
		close(f.over)
		listener.Close()
	})
	go f.accept()
	return f
}

func (f *fake) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.session++
		c := &talk{fake: f, Conn: conn, number: f.session}
		f.mu.Unlock()
		go func() {
			<-f.over
			conn.Close()
		}()
		go c.serve()
	}
}

// when sets the answer to a command. "greeting" counts as one, too.
func (f *fake) when(verb string, answer func(*talk)) *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on[verb] = answer
	return f
}

// sent returns the commands with a prefix, as in "MKD" or "MKD /dir/L".
func (f *fake) sent(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, line := range f.got {
		if _, command, _ := strings.Cut(line, " "); strings.HasPrefix(command, prefix) {
			all = append(all, line)
		}
	}
	return all
}

func (c *talk) serve() {
	defer c.Close()
	c.mu.Lock()
	implicit, config := c.implicit, c.fake.tls
	c.mu.Unlock()
	if implicit {
		c.Conn = tls.Server(c.Conn, config)
	}
	c.answer(greeting)
	in := bufio.NewReader(c.Conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		c.mu.Lock()
		c.got = append(c.got, fmt.Sprintf("%d %s", c.number, line))
		c.mu.Unlock()
		verb, _, _ := strings.Cut(line, " ")
		c.answer(verb)
		if verb == "AUTH" && c.tls != nil {
			c.Conn = tls.Server(c.Conn, c.tls)
			in = bufio.NewReader(c.Conn)
		}
	}
}

func (c *talk) answer(verb string) {
	c.verb = verb
	c.mu.Lock()
	answer := c.on[verb]
	c.mu.Unlock()
	if answer == nil {
		answer = (*talk).obey
	}
	answer(c)
}

// obey is the usual answer to the command.
func (c *talk) obey() {
	switch c.verb {
	case "AUTH":
		c.say(map[bool]string{true: "234 go on", false: "500 no TLS"}[c.tls != nil])
	case "PROT":
		c.private = true
		c.say("200 private")
	case "FEAT":
		c.say("211-Features:\r\n EPSV\r\n UTF8\r\n211 End")
	case "EPSV":
		c.say(fmt.Sprintf("229 Entering (|||%d|)", c.open()))
	case "PASV":
		port := c.open()
		c.say(fmt.Sprintf("227 Entering (10,9,8,7,%d,%d)", port/256, port%256))
	case "NLST", "LIST", "MLSD":
		c.say("150 here it comes")
		c.send(c.listing)
		c.say("226 done")
	default:
		c.say(map[string]string{greeting: "220 fake", "USER": "331 password?", "PASS": "230 welcome", "MKD": "257 made",
			"RNFR": "350 to?", "RMD": "250 removed", "RNTO": "250 renamed", "STAT": "211-Status\r\n idle 300\r\n211 End"}[c.verb])
	}
}

func (c *talk) say(reply string) {
	if reply == "" {
		reply = "200 fine"
	}
	_, _ = io.WriteString(c.Conn, reply+"\r\n") // the client may be gone
}

func (c *talk) cut()  { c.Close() }
func (c *talk) hang() { <-c.over }

// open begins to wait for a data connection.
func (c *talk) open() (port int) {
	var err error
	if c.data, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		c.t.Error(err)
	}
	return c.data.Addr().(*net.TCPAddr).Port
}

// send sends a listing.
func (c *talk) send(text string) {
	conn, raw := c.accepted()
	defer raw.Close()
	_, _ = io.WriteString(conn, text) // the client may be gone
	conn.Close()
}

// accepted returns the data connection, and the raw connection below TLS.
func (c *talk) accepted() (conn, raw net.Conn) {
	raw, err := c.data.Accept()
	c.data.Close()
	if err != nil {
		c.t.Error(err)
	}
	if c.private {
		return tls.Server(raw, c.tls), raw
	}
	return raw, raw
}

const secret = `s3cr3t"\word`

// dir returns the directory of the lock /dir/L at the fake.
func (f *fake) dir(change ...func(*backend.Address, *backend.Access)) *Dir {
	f.t.Helper()
	a := backend.Address{Scheme: SchemePlain, User: "lock", Host: f.listener.Addr().String(), Path: "//dir/L"}
	access := backend.Access{Password: func(string, string) (string, string, error) { return secret, "", nil }}
	for _, c := range change {
		c(&a, &access)
	}
	s, err := newServer(a, access)
	if err != nil {
		f.t.Fatal(err)
	}
	s.timeout = lasting
	d := s.newDir()
	f.t.Cleanup(d.Close)
	return d
}

// impatient is how long hasty and calm wait for an answer: they are for servers that give none. Whoever
// is to get an answer uses dir, for here a server may be slow by chance.
const impatient = 2 * time.Second

// hasty returns a directory that does not wait long for an answer.
func (f *fake) hasty() *Dir { return f.within(impatient) }

// calm is like hasty, but only after the log in, so that the test comes to its command however
// busy this machine is.
func (f *fake) calm(verb string) *Dir {
	f.t.Helper()
	d := f.dir()
	if lists(verb) {
		f.when("EPSV", func(c *talk) { // on every connection
			d.conn.deadlines.timeout = impatient
			c.obey()
		})
		return d
	}
	d.connect(f.t)
	d.conn.deadlines.timeout = impatient
	return d
}

// connect logs in.
func (d *Dir) connect(t testing.TB) {
	t.Helper()
	d.busy <- struct{}{}
	defer d.leave()
	if _, err := d.connected(soon(t)); err != nil {
		t.Fatal(err)
	}
}

// within returns a directory that waits for an answer for d.
func (f *fake) within(d time.Duration) *Dir {
	dir := f.dir()
	dir.server.timeout = d
	return dir
}

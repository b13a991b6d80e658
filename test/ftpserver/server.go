package ftpserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab"
)

// A Server is an FTP server that runs until the test ends.
type Server struct {
	Kind     string
	Addr     string // 127.0.0.1:port
	User     string
	Password string // may be empty
	Home     string // a directory that the account may write, as addresses of FTP name it
	Dir      string // the same directory on this disk
	CA       string // a PEM file with the authority to trust; "" without TLS
	Implicit bool   // TLS begins before the greeting

	t       testing.TB
	mu      sync.Mutex
	daemon  daemon
	running bool
}

// A daemon is a configured server's program: what differs between the kinds from then on.
type daemon interface {
	// start returns once the daemon was started; it may not listen yet.
	start() error
	// alive is false if the daemon has ended, or was not started.
	alive() bool
	// stop ends the daemon and all its sessions.
	stop()
	// log returns what the daemon had to say.
	log() string
}

// kinds has, by name, how to configure a server of each kind on a site of its own.
var kinds = map[string]func(*Server, *site) (daemon, error){
	"vsftpd":    vsftpd,
	"proftpd":   proftpd,
	"pureftpd":  pureftpd,
	"pyftpdlib": pyftpdlib,
	"inetutils": inetutils,
	"embedded":  embedded,
}

// Kinds returns the names of all kinds; the embedded server, which runs everywhere, comes first.
func Kinds() []string {
	return []string{"embedded", "proftpd", "vsftpd", "pureftpd", "pyftpdlib", "inetutils"}
}

// Start starts a server of a kind. It fails the test if the kind does not support the options,
// and skips the test if this machine cannot run the kind.
func Start(t testing.TB, kind string, o Options) *Server {
	t.Helper()
	if err := Supports(kind, o); err != nil {
		t.Fatal(err)
	}
	programs := need(t, kind)
	place, err := newSite(t, o)
	if err != nil {
		t.Fatal(err)
	}
	place.programs = filepath.Join(programs, kind)
	s := &Server{
		t: t, Kind: kind, Addr: fmt.Sprintf("127.0.0.1:%d", place.port),
		User: account, Password: password, Home: "/", Dir: place.root, CA: place.ca, Implicit: o.Implicit,
	}
	if s.daemon, err = kinds[kind](s, place); err != nil {
		t.Fatalf("configure %s: %v", kind, err)
	}
	t.Cleanup(s.Stop)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Stop ends the server and all its sessions, as a crash would.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.daemon.stop()
		s.running = false
	}
}

// Restart stops the server if it runs, and starts it again at the same address
// with the same files.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	if err := s.start(); err != nil {
		s.t.Error(err)
	}
}

// start starts the daemon and returns once it greets.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	err := s.daemon.start()
	if err == nil {
		err = s.greets()
	}
	if err != nil {
		return fmt.Errorf("start %s: %w\n%s", s.Kind, err, s.daemon.log())
	}
	return nil
}

const startLimit = lab.Patience

// greets waits until the daemon answers.
func (s *Server) greets() error {
	var err error
	for limit := time.Now().Add(startLimit); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if !s.daemon.alive() {
			return errors.New("it ended at once")
		}
		var said string
		if said, err = s.visit(); err == nil {
			return nil
		}
		if said != "" {
			return fmt.Errorf("it answered %q", said)
		}
	}
	return fmt.Errorf("no greeting after %v: %w", startLimit, err)
}

// visit reads the server's greeting and leaves again. Its session is over when visit returns, so
// that the server does not count it among the test's connections.
func (s *Server) visit() (said string, err error) {
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if s.Implicit {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // who it is matters to tests alone
	}
	if err := conn.SetDeadline(time.Now().Add(startLimit / 2)); err != nil {
		return "", err
	}
	r := bufio.NewReader(conn)
	for !strings.HasPrefix(said, "220 ") {
		if said, err = r.ReadString('\n'); err != nil {
			return said, err
		}
		if !strings.HasPrefix(said, "220") {
			return said, errors.New("no greeting")
		}
	}
	if _, err := io.WriteString(conn, "QUIT\r\n"); err != nil {
		return "", err
	}
	if _, err = io.Copy(io.Discard, r); s.Implicit {
		return "", nil // some end TLS without a word
	}
	return "", err
}

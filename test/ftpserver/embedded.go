package ftpserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	ftplib "github.com/fclairamb/ftpserverlib"
)

// An inProcess server is a daemon of this process.
type inProcess struct {
	addr     string
	place    *site
	config   *tls.Config // nil without TLS
	mu       sync.Mutex
	server   *ftplib.FtpServer
	sessions map[*session]bool // the open ones
	handlers int               // the handlers of open sessions, and of those that are just ending
}

// embedded serves a directory of the disk from this process.
func embedded(s *Server, place *site) (daemon, error) {
	d := &inProcess{addr: s.Addr, place: place}
	if !place.TLS {
		return d, nil
	}
	certificate, err := tls.LoadX509KeyPair(place.both, place.both)
	if err != nil {
		return nil, err
	}
	d.config = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if place.TLS12 {
		d.config.MaxVersion = tls.VersionTLS12
	}
	return d, nil
}

func (d *inProcess) start() error {
	listener, err := listen(d.addr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions = map[*session]bool{}
	listener = &limitListener{listener, d}
	if d.place.Implicit {
		listener = tls.NewListener(listener, d.config) // the library does so only for a listener of its own
	}
	d.server = ftplib.NewFtpServer(&driver{inProcess: d, listener: listener})
	if err := d.server.Listen(); err != nil {
		return err
	}
	go d.server.Serve()
	return nil
}

func (d *inProcess) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server != nil
}

// stop returns when no session works on the files any more, unless one sleeps in
// a hook for long.
func (d *inProcess) stop() {
	d.mu.Lock()
	if d.server != nil {
		_ = release(closer(d.server.Stop)) // it listens no more in any case
		d.server = nil
	}
	for open := range d.sessions {
		open.Conn.Close()
	}
	d.mu.Unlock()
	for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit) && d.busy(); {
		time.Sleep(time.Millisecond)
	}
}

type closer func() error

func (c closer) Close() error { return c() }

func (d *inProcess) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handlers > 0
}

func (d *inProcess) log() string { return "" }

// A driver tells the library how to serve.
type driver struct {
	*inProcess
	listener net.Listener
}

func (d *driver) GetSettings() (*ftplib.Settings, error) {
	settings := &ftplib.Settings{
		Listener: d.listener, DisableActiveMode: true,
		IdleTimeout: int(d.place.Idle.Seconds()),
	}
	if d.config != nil {
		settings.TLSRequired = ftplib.MandatoryEncryption
		if d.place.Implicit {
			settings.TLSRequired = ftplib.ImplicitEncryption
		}
	}
	return settings, nil
}

func (d *driver) GetTLSConfig() (*tls.Config, error) {
	if d.config == nil {
		return nil, errors.New("no TLS")
	}
	return d.config, nil
}

func (d *driver) ClientConnected(ftplib.ClientContext) (string, error) { return "test", nil }

func (d *driver) ClientDisconnected(ftplib.ClientContext) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handlers--
}

func (d *driver) AuthUser(c ftplib.ClientContext, user, pass string) (ftplib.ClientDriver, error) {
	if user != account || pass != password {
		return nil, fmt.Errorf("no such account: %s", user)
	}
	if d.place.Unconfined {
		c.SetPath(d.place.root)
	}
	return newTree(d.place), nil
}

// A limitListener admits as many sessions as MaxConns allows, and knows which sessions are open.
type limitListener struct {
	net.Listener
	d *inProcess
}

func (l *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.d.admit(conn); admitted != nil {
			return admitted, nil
		}
		_, _ = io.WriteString(conn, "421 Too many connections\r\n") // as much as others do
		conn.Close()
	}
}

// A session is a control connection that counts until it is closed.
type session struct {
	net.Conn
	d *inProcess
}

// admit returns nil if there is no room for another session.
func (d *inProcess) admit(conn net.Conn) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil || d.place.MaxConns > 0 && len(d.sessions) >= d.place.MaxConns {
		return nil
	}
	s := &session{conn, d}
	d.sessions[s] = true
	d.handlers++
	return s
}

// Close makes room before it ends the connection: a client that sees the end may come back at
// once.
func (s *session) Close() error {
	s.d.mu.Lock()
	delete(s.d.sessions, s)
	s.d.mu.Unlock()
	return s.Conn.Close()
}

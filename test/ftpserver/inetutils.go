package ftpserver

import (
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// An inetd listens, and starts a program for each connection.
type inetd struct {
	addr    string
	session func() *exec.Cmd

	mu       sync.Mutex
	listener net.Listener
	sessions map[*exec.Cmd]bool
	trouble  []string
	all      sync.WaitGroup
}

// inetutils serves an account that it finds in an /etc of its own.
func inetutils(s *Server, place *site) (daemon, error) {
	chrooted := account + "\n"
	if place.Unconfined {
		chrooted = ""
	}
	etc, err := place.writeEtc(map[string]string{"shells": "/bin/sh\n", "ftpchroot": chrooted})
	if err != nil {
		return nil, err
	}
	args := []string{etc, filepath.Join(place.programs, "usr/sbin/ftpd"), "--auth=default"}
	if place.Idle > 0 {
		args = append(args, "--timeout="+strconv.Itoa(int(place.Idle.Seconds())))
	}
	env := place.environment()
	return &inetd{
		addr:    s.Addr,
		session: func() *exec.Cmd { return confined(env, inOtherEtc, args...) },
	}, nil
}

func (d *inetd) start() error {
	listener, err := listen(d.addr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener, d.sessions = listener, map[*exec.Cmd]bool{}
	d.all.Go(func() { d.accept(listener) })
	return nil
}

func (d *inetd) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // stopped
		}
		if err := d.serve(conn.(*net.TCPConn)); err != nil {
			d.mu.Lock()
			d.trouble = append(d.trouble, err.Error())
			d.mu.Unlock()
		}
	}
}

// serve starts the session of a connection. The connection ends with it.
func (d *inetd) serve(conn *net.TCPConn) error {
	defer conn.Close()
	cmd := d.session()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener == nil {
		return nil
	}
	if err := handOver(cmd, conn); err != nil {
		return err
	}
	d.sessions[cmd] = true
	d.all.Go(func() {
		_ = cmd.Wait() // killed, or the client is told
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.sessions, cmd)
	})
	return nil
}

func (d *inetd) alive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.listener != nil
}

func (d *inetd) stop() {
	d.mu.Lock()
	if d.listener != nil {
		_ = release(d.listener) // it listens no more in any case
		d.listener = nil
	}
	for cmd := range d.sessions {
		_ = cmd.Process.Kill() // it may have ended
	}
	d.mu.Unlock()
	d.all.Wait()
}

func (d *inetd) log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.trouble, "\n")
}

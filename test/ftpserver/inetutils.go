package ftpserver

import (
	"fmt"
	"net"
	"os"
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

// The server looks for its account in /etc, so it gets another one.
const inOtherEtc = `mount --bind "$1" /etc && shift && "$@"; exit $?`

// inetutils serves the account from an /etc of its own.
func inetutils(s *Server, place *site) (daemon, error) {
	etc := filepath.Join(place.work, "etc")
	if err := os.Mkdir(etc, 0o755); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"passwd":    fmt.Sprintf("root:*:0:0::/:/bin/sh\n%s:%s:%d:%d::%s:/bin/sh\n", account, crypted, uid, gid, place.root),
		"group":     fmt.Sprintf("root:x:0:\n%s:x:%d:\n", account, gid),
		"shells":    "/bin/sh\n",
		"ftpchroot": account + "\n",
	} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
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

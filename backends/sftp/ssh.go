//go:build unix

package sftp

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/process"
)

// An ssh is a child that speaks with a server for us. It is a transport.
type ssh struct {
	cmd     *exec.Cmd
	in, out *os.File // our ends of its pipes
	said    tail
	ended   chan struct{} // closed when it has ended
	kill    sync.Once
}

// options make an ssh fit for a program, whatever its user has chosen for interactive use. Who
// the server is and how to get there stays the user's choice (ssh_config(5)).
func options() []string {
	seconds := strconv.Itoa(int(silence / time.Second))
	return []string{
		"ControlPath=none",               // else its end would end others' sessions, too
		"ServerAliveInterval=" + seconds, // shows that a connection was cut
		"ServerAliveCountMax=2",
		"ConnectTimeout=" + seconds,
		"ClearAllForwardings=yes", // a port may be taken by the user's own session
		"ForwardX11=no",
		"PermitLocalCommand=no",
		"RemoteCommand=none", // it would run in place of the subsystem
	}
}

// newerOption sets StdinNull back, which a configuration file may set. OpenSSH before 8.7 knows neither the
// option nor another way to set it, so it needs nothing.
const newerOption = "StdinNull=no"

// arguments returns the arguments of the command that runs the subsystem sftp at an address.
func arguments(a backend.Address, batch, old bool) []string {
	args := []string{"-T", "-a"}
	all := options()
	if !old {
		all = append(all, newerOption)
	}
	if batch {
		all = append(all, "BatchMode=yes") // it also suppresses the question for a password
	} else {
		all = append(all, "NumberOfPasswordPrompts=1")
	}
	for _, o := range all {
		args = append(args, "-o", o)
	}
	host, port := hostPort(a)
	if port != "" {
		args = append(args, "-p", port)
	}
	if a.User != "" {
		args = append(args, "-l", a.User)
	}
	return append(args, "-s", "--", host, "sftp")
}

// hostPort returns the host of an address as ssh takes it, and the port, "" for the usual port.
func hostPort(a backend.Address) (host, port string) {
	host = a.Host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i+1:]
	}
	return strings.Trim(host, "[]"), port
}

// startSSH starts a command that connects to a server.
func startSSH(command, args, env []string) (transport, error) {
	s := &ssh{ended: make(chan struct{})}
	s.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], args...)...)
	s.cmd.Env = env
	s.cmd.Stderr = &s.said
	s.cmd.WaitDelay = time.Second // what it has started may keep its standard error
	s.cmd.ExtraFiles = closed()
	s.cmd.SysProcAttr = ownSession()
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	s.in, s.out, s.cmd.Stdin, s.cmd.Stdout = in, out, theirIn, theirOut
	err = process.Start(s.cmd)
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	go func() {
		_ = process.Wait(s.cmd) // its status tells nothing
		close(s.ended)
	}()
	return s, nil
}

// closed stands for the descriptors that we have from our parent. An ssh must not hold them
// open, or it would seem to be whoever opened them.
func closed() []*os.File {
	most := 2
	entries, _ := os.ReadDir("/dev/fd") // without it, ssh closes them itself
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			most = max(most, fd)
		}
	}
	return make([]*os.File, most-2)
}

// Read implements transport.
func (s *ssh) Read(b []byte) (int, error) { return s.out.Read(b) }

// Write implements transport.
func (s *ssh) Write(b []byte) (int, error) { return s.in.Write(b) }

// Kill implements transport. What ssh has started, such as a ProxyCommand, goes with it.
func (s *ssh) Kill() {
	s.kill.Do(func() {
		if s.cmd.Process.Signal(syscall.Signal(0)) == nil { // else the number may be another's
			_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		}
		_ = s.cmd.Process.Kill()
		_, _ = s.in.Close(), s.out.Close()
	})
}

// lastWords is how long an ssh may take to say why it ends.
const lastWords = 300 * time.Millisecond

// Why implements transport.
func (s *ssh) Why() string {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
	return s.said.String()
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-maxTail):]...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

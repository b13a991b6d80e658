package sftpserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab"
)

// The kinds of servers. OpenSSH's is the usual one.
const (
	OpenSSH  = ""
	ProFTPD  = "proftpd"
	AsyncSSH = "asyncssh"
	PkgSFTP  = "pkg/sftp" // an sshd whose sessions are those of the Go library
)

// Options say what a server is to be like. All except Kind are for sshd.
type Options struct {
	Kind        string
	External    bool   // each session has a program of its own, not internal-sftp
	Chroot      bool   // the account sees only its home, which is its root
	MaxStartups int    // how many connections may be logging in; 0: more than any test makes
	Noise       string // what the account's shell says at each log in
	NoSubsystem bool   // there is no SFTP
	Extra       string // more lines at the end of its sshd_config
}

// Account is the user of all servers. Its ids belong to nobody else.
const (
	Account  = "lock"
	password = "pw"
	crypted  = "$1$locksmit$P2FE7P8hwwLFgXoIX0XPw." // password, as crypt(3) has it
	uid, gid = 64003, 64002
)

// A Server is an SFTP server.
type Server struct {
	Addr     string // 127.0.0.1:port
	User     string
	UID, GID int // its account's
	Password string
	Home     string // the directory on this disk to which a login leads; the account may write there
	Key      string // a file with the account's private key
	SSH      string // for $LOCKSMITH_SSH: logs in with the key, and knows the server
	WithPass string // the same without the key

	t       testing.TB
	work    string
	port    int
	daemon  daemon
	command *exec.Cmd
	mu      sync.Mutex
	ended   chan struct{}
}

// A daemon says how a server's program is started.
type daemon struct {
	argv []string
	env  []string // nil: the test's own
}

// configure makes a server of a kind ready to be started.
var configure = map[string]func(*Server, Options) (daemon, error){
	OpenSSH: openSSH, PkgSFTP: pkgSFTP, ProFTPD: proFTPD, AsyncSSH: asyncSSH,
}

// Address returns the address of a path that is relative to the home.
func (s *Server) Address(path string) string { return "sftp://" + s.User + "@" + s.Addr + "/" + path }

// Start starts a server. If this machine cannot run it, the test is skipped.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	lab.NotShort(t, "starts an SFTP server")
	lab.NeedRoot(t)
	lab.NeedProgram(t, "ssh-keygen")
	// A folder for temporary files is not safe enough for a home that is the session's root
	// (sshd_config(5)).
	work, err := os.MkdirTemp("/run", "sftpserver-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	port := lab.ReservePort(t)
	s := &Server{t: t, work: work, port: port, Addr: fmt.Sprintf("127.0.0.1:%d", port), User: Account, UID: uid, GID: gid, Password: password,
		Home: filepath.Join(work, "home"), Key: filepath.Join(work, "key")}
	if err := s.prepare(o); err != nil {
		t.Fatal(err)
	}
	if s.daemon, err = configure[o.Kind](s, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Restart()
	return s
}

func (s *Server) file(name string) string { return filepath.Join(s.work, name) }

// prepare writes the files that every kind needs. Whatever the umask is, the account may read
// those that it must read.
func (s *Server) prepare(o Options) error {
	for _, key := range []string{"hostkey", "key"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.file(key)).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	hostKey, err1 := os.ReadFile(s.file("hostkey.pub"))
	userKey, err2 := os.ReadFile(s.file("key.pub"))
	if err := errors.Join(err1, err2, os.Chmod(s.work, 0o755)); err != nil {
		return err
	}

	home := s.Home
	if o.Chroot { // a session's root must belong to the user root
		home = filepath.Join(s.work, "jail")
		s.Home = filepath.Join(home, "files")
	}
	files := map[string]string{
		"known":  fmt.Sprintf("[127.0.0.1]:%d %s", s.port, hostKey),
		"keys":   string(userKey),
		"passwd": fmt.Sprintf("root:*:0:0::/:/bin/sh\nsshd:*:65533:65534::/run/sshd:/bin/false\nnobody:*:65534:65534::/:/bin/false\n%s:x:%d:%d::%s:/bin/bash\n", Account, uid, gid, home),
		"shadow": fmt.Sprintf("root:*:1::::::\nsshd:*:1::::::\n%s:%s:1::::::\n", Account, crypted),
		"group":  fmt.Sprintf("root:x:0:\nnogroup:x:65534:\n%s:x:%d:\n", Account, gid),
	}
	for name, text := range files {
		if err := errors.Join(s.write(name, text), os.Chmod(s.file(name), 0o644)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(s.Home, 0o755), os.Chmod(home, 0o755), os.Chmod(s.Home, 0o755), os.Chown(s.Home, uid, gid)); err != nil {
		return err
	}
	if o.Noise != "" {
		rc := filepath.Join(s.Home, ".bashrc")
		if err := errors.Join(os.WriteFile(rc, []byte("echo '"+o.Noise+"'\n"), 0o600), os.Chown(rc, uid, gid)); err != nil {
			return err
		}
	}
	// The options use nothing of the user's own, and give a busy machine time enough.
	s.WithPass = "ssh -F none -o ConnectTimeout=600 -o IdentityFile=none -o IdentityAgent=none -o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + s.file("known")
	s.SSH = strings.Replace(s.WithPass, "IdentityFile=none", "IdentityFile="+s.Key, 1)
	return nil
}

// inOtherEtc runs a command where the account exists. It is the first process of a namespace,
// so that all sessions end with it.
const inOtherEtc = `cd "$1" && mkdir -p /run/sshd && mount --bind passwd /etc/passwd && mount --bind group /etc/group &&
mount --bind shadow /etc/shadow || exit 71
shift && "$@"; exit $?`

// noMounts is the status with which inOtherEtc says that it could not make its own /etc.
const noMounts = 71

// Restart stops the server if it runs, and starts it again at the same port with the same
// files. It returns once the server greets.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(s.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	command := exec.Command("/bin/sh", append([]string{"-c", inOtherEtc, "sh", s.work}, s.daemon.argv...)...)
	command.Env, command.Stdout, command.Stderr = s.daemon.env, log, log
	command.SysProcAttr = confinement()
	if err := command.Start(); err != nil {
		lab.Lacking(s.t, "no namespaces here: "+err.Error())
	}
	ended := make(chan struct{})
	s.command, s.ended = command, ended
	go func() {
		_ = command.Wait() // killed, or its log says why
		close(ended)
	}()
	lab.Eventually(s.t, "the server greets, or has ended", func() bool { return s.hasEnded() || greets(s.Addr) }, s.Log)
	switch {
	case s.hasEnded() && command.ProcessState.ExitCode() == noMounts:
		lab.Lacking(s.t, "no mounts here: "+s.Log())
	case s.hasEnded():
		s.t.Fatalf("the server has ended:\n%s", s.Log())
	}
}

func (s *Server) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// greets reports whether an SSH server answers.
func greets(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	b := make([]byte, 4)
	n, _ := c.Read(b)
	return string(b[:n]) == "SSH-"
}

// Shared returns a command like SSH whose users all share one connection: logging in takes much
// longer than locking.
func (s *Server) Shared() string {
	s.t.Helper()
	path := s.file("master")
	ssh := s.SSH + " -o ControlPath=" + path
	args := append(strings.Fields(ssh), "-M", "-N", "-p", fmt.Sprint(s.port), "-l", s.User, "127.0.0.1")
	master := lab.Start(s.t, exec.Command(args[0], args[1:]...))
	lab.Eventually(s.t, "there is a connection for all", func() bool {
		_, err := os.Stat(path)
		return err == nil
	}, master.Stderr, s.Log)
	return ssh
}

// Stop ends the server and all its sessions, as a crash would.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command != nil {
		_ = s.command.Process.Kill() // it may have ended
		<-s.ended
		s.command = nil
	}
}

// Log returns what the server had to say.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.file("log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

//go:build linux

package sftp

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/nfs"
	"locksmith/backends/shelf"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

// at opens the lock at a path on a server.
func at(t testing.TB, s *sftpserver.Server, access backend.Access, path, style string) backend.Backend {
	t.Helper()
	return open(t, backend.Address{Scheme: Scheme, User: s.User, Host: s.Addr, Path: "/" + path, Options: styled(style)}, access)
}

// open opens a lock that is as swift, and has leases as short, as the suite wants.
func open(t testing.TB, a backend.Address, access backend.Access) backend.Backend {
	t.Helper()
	b, err := Open(a, access)
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := b.(*lock); ok {
		l.HeadPause, l.leastLease = 0, 0
		l.leastAnswer, l.server.dialTime = maxAnswer, 5*time.Minute // this machine may be busy
	}
	return b
}

func byKey(s *sftpserver.Server) backend.Access { return backend.Access{SSH: s.SSH} }

var long = flag.Bool("long", false, "ask all kinds of servers for all of the conformance suite")

// TestConformanceOfServers: each server passes the suite for backends, in the format that it does
// best. Without -long the suite runs on one server for each format: the requests to the others
// are the same. What doctor says of all servers and formats is in test/sftplab.
func TestConformanceOfServers(t *testing.T) {
	t.Parallel()
	lab.NotShort(t, "starts hundreds of servers")
	for name, c := range map[string]struct {
		site  func(*testing.T) site
		style string
		long  bool
	}{
		"OpenSSH":  {openSSHWithPipes, "", false},
		"pkg/sftp": {pkgSFTPWithPipes, "", true},
		"asyncssh": {shared(sftpserver.AsyncSSH), "", true},
		"ProFTPD":  {shared(sftpserver.ProFTPD), "dir", false},
	} {
		if c.long && !*long {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := c.site(t)
			conform(t, c.style, func(t *testing.T) (string, func() backend.Backend) { return in(t, c.style) })
		})
	}
}

// A site makes a directory at a server, and opens a lock there.
type site func(t *testing.T, style string) (dir string, open func() backend.Backend)

func openSSHWithPipes(t *testing.T) site {
	const program = "/usr/lib/openssh/sftp-server"
	if _, err := os.Stat(program); err != nil {
		lab.Lacking(t, "openssh-sftp-server is missing")
	}
	return withPipes(program)
}

func pkgSFTPWithPipes(t *testing.T) site {
	in := withPipes(lab.Program(t, "test/sftpserver/pkgsftp"))
	return func(t *testing.T, style string) (string, func() backend.Backend) {
		dir, open := in(t, style)
		return dir, func() backend.Backend { return irremovable{open().(*lock)} }
	}
}

// An irremovable lock is one that backend.Remover refuses to remove.
type irremovable struct{ keeper }

type keeper interface {
	backend.Backend
	shelf.Keeper
}

// withPipes is a server program behind pipes, so that to connect takes no time.
func withPipes(program string) site {
	return func(t *testing.T, style string) (string, func() backend.Backend) {
		dir := t.TempDir()
		script := filepath.Join(t.TempDir(), "ssh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\ncd "+dir+" && exec "+program+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		a := backend.Address{Scheme: Scheme, Host: "h", Path: "/lock", Options: styled(style)}
		return dir, func() backend.Backend { return open(t, a, backend.Access{SSH: script}) }
	}
}

// shared is a server with which all locks share one connection, because to log in takes long.
func shared(kind string) func(*testing.T) site {
	return func(t *testing.T) site {
		s := sftpserver.Start(t, sftpserver.Options{Kind: kind})
		access := backend.Access{SSH: s.Shared()}
		return func(t *testing.T, style string) (string, func() backend.Backend) {
			dir, err := os.MkdirTemp(s.Home, "")
			if err := errors.Join(err, os.Chown(dir, s.UID, s.GID)); err != nil {
				t.Fatal(err)
			}
			return dir, func() backend.Backend { return at(t, s, access, filepath.Base(dir)+"/lock", style) }
		}
	}
}

func styled(style string) map[string]string {
	if style == "" {
		return nil
	}
	return map[string]string{"style": style}
}

// TestServers: each format locks on each kind of server.
func TestServers(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sftpserver.Options{"internal": {}, "external": {External: true}, "chroot": {Chroot: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sftpserver.Start(t, o)
			for _, style := range []string{"", "plain", "dir"} {
				b := at(t, s, byKey(s), "lock"+style, style)
				h := backendtest.MustAcquire(t, wish(t, b))
				beHeld(t, b)
				if err := h.Heartbeat(t.Context()); err != nil {
					t.Error(err)
				}
				backendtest.MustRelease(t, h)
			}
		})
	}
}

// TestOneLockFromBothSides: hosts that mount the directory share the lock with hosts that use
// SFTP.
func TestOneLockFromBothSides(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{})
	far := at(t, s, byKey(s), "lock", "")
	near, err := nfs.Open(backend.Address{Scheme: nfs.Scheme, Path: filepath.Join(s.Home, "lock")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		one, other := far, near
		if i%2 == 1 {
			one, other = near, far
		}
		h := backendtest.MustAcquire(t, wish(t, one))
		if h.Token() != uint64(i+1) {
			t.Errorf("the holder has token %d, want %d", h.Token(), i+1)
		}
		beHeld(t, other)
		r, err := other.Read(t.Context())
		if err != nil || len(r.Holders) != 1 || r.Holders[0].ID != h.ID() || r.Holders[0].Record == nil {
			t.Errorf("Read from the other side sees %+v, %v; want the holder with its record", r, err)
		}
		backendtest.MustRelease(t, h)
	}
	h := backendtest.MustAcquire(t, wish(t, far))
	if err := backendtest.BreakID(t.Context(), near, h.ID()); err != nil {
		t.Error(err)
	}
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Error(err)
	}
}

// TestRefusals: what ssh says becomes one error, which tells what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	known := sftpserver.Start(t, sftpserver.Options{})
	none := sftpserver.Start(t, sftpserver.Options{NoSubsystem: true})
	noisy := sftpserver.Start(t, sftpserver.Options{External: true, Noise: "Welcome!"})
	changed := otherKeyOf(t, known)
	for name, c := range map[string]struct {
		server *sftpserver.Server
		ssh    string
		code   string
		says   string
	}{
		"host key":   {known, strings.Replace(known.SSH, "known", "unknown", 1), "unreachable", "Host key verification failed"},
		"changed":    {known, strings.Replace(known.SSH, "ssh ", "ssh -o UserKnownHostsFile="+changed+" ", 1), "unreachable", "the server's key has changed, and somebody may sit between; accept nothing until the server's administrator has told you the new key by another way; then remove the old one with: ssh-keygen -R '[127.0.0.1]:"},
		"key":        {known, known.WithPass, "permission", "Permission denied"},
		"locked key": {known, strings.Replace(known.SSH, known.Key, lockedKey(t), 1), "permission", "has a passphrase, and no agent"},
		"by hand":    {known, known.WithPass, "permission", "log in by hand with: " + known.WithPass + " -v -p "},
		"subsystem":  {none, none.SSH, "unreachable", "Subsystem sftp internal-sftp"},
		"noise":      {noisy, noisy.SSH, "unreachable", ".bashrc"},
		"no program": {known, "/nowhere/ssh", "config", "$LOCKSMITH_SSH"},
		"no ssh":     {known, "false", "unreachable", "the connection has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := at(t, c.server, backend.Access{SSH: c.ssh}, "lock", "")
			_, err := b.Read(t.Context())
			if string(backend.CodeOf(err)) != c.code || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("a refusal of ssh is told with code %s: %v", backend.CodeOf(err), err)
			}
		})
	}
}

// lockedKey makes a key that has a passphrase.
func lockedKey(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "locked")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "passphrase", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	return file
}

// otherKeyOf makes a file of known hosts with another key for the server.
func otherKeyOf(t *testing.T, s *sftpserver.Server) (file string) {
	t.Helper()
	public, err := os.ReadFile(s.Key + ".pub")
	host, port, err2 := net.SplitHostPort(s.Addr)
	file = filepath.Join(t.TempDir(), "changed")
	if err := errors.Join(err, err2, os.WriteFile(file, fmt.Appendf(nil, "[%s]:%s %s", host, port, public), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPassword: ssh gets the password from us, and no other password.
func TestPassword(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{Extra: "PubkeyAuthentication no"})
	for _, c := range []struct {
		password string
		code     string
		says     string
	}{{s.Password, "internal", ""}, {"another", "permission", "the password is refused: correct it in $A_PASSWORD, or the user in the address"}} {
		access := backend.Access{SSH: s.WithPass, Password: func(user, host string) (string, string, error) {
			if user != s.User || host != s.Addr {
				t.Errorf("the password was asked for with user %s at %s", user, host)
			}
			return c.password, "$A_PASSWORD", nil
		}}
		_, err := at(t, s, access, "lock", "").Read(t.Context())
		if c.password == s.Password && err != nil || c.password != s.Password && string(backend.CodeOf(err)) != c.code {
			t.Error(err)
		}
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("the error is %v", err)
		}
		if strings.Contains(fmt.Sprint(err), c.password) {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

// TestPasswordVariable: ssh does not see the variable with the password, and sees all others,
// however short the password is.
func TestPasswordVariable(t *testing.T) {
	t.Setenv("LOCKSMITH_TEST_PASSWORD", "e")
	t.Setenv("LOCKSMITH_TEST_OTHER", "e")
	for source, hidden := range map[string]bool{"$LOCKSMITH_TEST_PASSWORD": true, "/home/u/.netrc": false} {
		w, err := answerPassword(testAddress, "e", source)
		if err != nil {
			t.Fatal(err)
		}
		env := w.env()
		w.close()
		for _, v := range os.Environ() {
			if name, _, _ := strings.Cut(v, "="); slices.Contains(env, v) != (!hidden || name != "LOCKSMITH_TEST_PASSWORD") {
				t.Errorf("with the password in %s, ssh must see the variable %s: %t", source, name, !hidden)
			}
		}
	}
}

// TestNoSSH: if what takes connections is no SSH server, the error says so.
func TestNoSSH(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{})
	for banner, says := range map[string]string{"": "says nothing", "\x00": "no SSH server"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = c.Write([]byte(banner))
			}
		}()
		a := testAddress
		a.Host = l.Addr().String()
		_, err = open(t, a, backend.Access{SSH: strings.Replace(s.SSH, "ssh", "ssh -o ConnectTimeout=1", 1)}).Read(t.Context())
		backendtest.MustFail(t, err, "unreachable", says)
	}
}

// TestBusyServer: with the usual MaxStartups, many of those that come at once are turned away,
// and come again.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{MaxStartups: 2})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := at(t, s, byKey(s), "lock", "").Read(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestDescriptors: ssh has none of our descriptors but its pipes.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "ssh")
	list := filepath.Join(dir, "list")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nls -l /proc/$$/fd >"+list+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil { // like a descriptor that a parent left to us
		t.Fatal(err)
	}
	s, err := startSSH([]string{script}, nil, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	<-s.(*ssh).ended
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", w.Fd()))
	if err != nil || strings.Contains(string(text), ours) {
		t.Errorf("ssh has our descriptor %s (%v):\n%s", ours, err, text)
	}
}

// wish is an attempt to hold a lock exclusively.
func wish(t *testing.T, b backend.Backend) backend.Attempt {
	t.Helper()
	a, err := b.Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// beHeld makes sure that somebody holds the lock.
func beHeld(t *testing.T, b backend.Backend) {
	t.Helper()
	a := wish(t, b)
	backendtest.MustBeHeld(t, a)
	backendtest.MustWithdraw(t, a)
}

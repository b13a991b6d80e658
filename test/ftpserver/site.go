package ftpserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// The account of all servers except vsftpd. Its ids belong to nobody else.
const (
	account  = "lock"
	password = "pw"
	crypted  = "$1$locksmit$P2FE7P8hwwLFgXoIX0XPw." // password, as crypt(3) has it
	uid      = 64001
	gid      = 64000
)

// A site is the directories, the port and the options that a server is built on.
type site struct {
	Options
	port     int
	programs string // where fetch put this kind's programs
	work     string // for configuration; root is below it
	root     string // the account's home, which it may write, and sees as "/" unless Unconfined
	ca       string // "" without TLS
	both     string // the certificate and its key; "" without TLS
}

// newSite makes the directories of a server, and finds a port.
func newSite(t testing.TB, o Options) (*site, error) {
	// Not t.TempDir: servers that run as the account must be able to enter it.
	work, err := os.MkdirTemp("", "ftpserver-")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	s := &site{Options: o, work: work, root: filepath.Join(work, "root")}
	if err := os.Chmod(work, 0o711); err != nil {
		return nil, err
	}
	if err := os.Mkdir(s.root, 0o755); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(s.root, uid, gid); err != nil {
			return nil, err
		}
	}
	if o.TLS {
		if err := s.writeCertificates(); err != nil {
			return nil, err
		}
	}
	s.port = lab.ReservePort(t)
	return s, nil
}

// write makes a file beside the account's home, for root only.
func (s *site) write(name, text string) (path string, err error) {
	path = filepath.Join(s.work, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// Servers that look for their account in /etc get another /etc.
const inOtherEtc = `mount --bind "$1" /etc && shift && "$@"; exit $?`

// writeEtc makes an /etc with the account and the given files.
func (s *site) writeEtc(files map[string]string) (dir string, err error) {
	files["passwd"] = fmt.Sprintf("root:*:0:0::/:/bin/sh\nnobody:*:65534:%[4]d::/:/bin/false\n%[1]s:%[2]s:%[3]d:%[4]d::%[5]s:/bin/sh\n",
		account, crypted, uid, gid, s.root)
	files["group"] = fmt.Sprintf("root:x:0:\n%s:x:%d:\n", account, gid)
	dir = filepath.Join(s.work, "etc")
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// environment lets programs find the libraries that were fetched with them. With TLS12 it also
// limits to TLS 1.2 the programs that use OpenSSL and have no setting of their own.
func (s *site) environment() []string {
	dirs, _ := filepath.Glob(filepath.Join(s.programs, "usr/lib/*-linux-gnu")) // the pattern is good
	env := os.Environ()
	if len(dirs) > 0 {
		env = append(env, "LD_LIBRARY_PATH="+dirs[0])
	}
	if s.TLS12 {
		env = append(env, "OPENSSL_CONF="+filepath.Join(s.work, openSSLConfig))
	}
	return env
}

// Without these limits the servers would choose any port from 1024 on for data connections, even
// the port of a server that is down just then (lab.ReservePort).
const lowestPassive, highestPassive = 33000, 65000

// listen tries again while the address is in use: this process may just have closed a listener
// there that a child, being started, still has open.
func listen(addr string) (net.Listener, error) {
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(limit) {
			return l, err
		}
	}
}

// release closes a listener while no child is being started, so that nobody listens there any
// more at once, or nearly at once.
func release(l io.Closer) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return l.Close()
}

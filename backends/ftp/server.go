package ftp

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"path"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// The address schemes of this backend, and the usual port of both. ImplicitPort is that of servers
// on which TLS begins before they greet.
const (
	SchemePlain  = "ftp"
	SchemeTLS    = "ftps"
	Port         = "21"
	ImplicitPort = "990"
)

// The option tls of ftps: says when TLS begins. Without it the port tells.
const (
	optionTLS = "tls"
	explicit  = "explicit"
	implicit  = "implicit"
)

// Open returns the lock at an address of one of the schemes. It does not connect yet. Its errors
// are *backend.Error.
func Open(a backend.Address, access backend.Access) (backend.Backend, error) {
	var further map[string][]string
	if a.Scheme == SchemeTLS {
		further = map[string][]string{optionTLS: {explicit, implicit}}
	}
	l, err := mkdirlock.New(a, further)
	if err != nil {
		return nil, err
	}
	s, err := newServer(a, access)
	if err != nil {
		return nil, err
	}
	l.NewDir, l.Name = func() dirs.Dir { return s.newDir() }, s.name()
	// A waiter asks every 3 to 4 seconds, from the first time to the last: a try takes some round
	// trips, and is work for a server that others use, too. Each waiter of a crowd asks less often.
	l.Pace = mkdirlock.Pace{Min: 4 * time.Second, Max: 4 * time.Second, Less: time.Second, Each: 25 * time.Millisecond, Crowd: 10 * time.Second}
	return l.Backend(), nil
}

// A server is where a lock is, and how to get there.
type server struct {
	address backend.Address
	access  backend.Access
	roots   *x509.CertPool // nil: the system's
	timeout time.Duration  // for each command
	backoff *servers.Backoff
	dialer  func(ctx context.Context, network, address string) (net.Conn, error)
}

// newServer checks an address of one of the schemes. It does not connect.
func newServer(a backend.Address, access backend.Access) (*server, error) {
	s := &server{address: a, access: access, timeout: 30 * time.Second, backoff: servers.NewBackoff(), dialer: (&net.Dialer{}).DialContext}
	if err := checkPath(s.address.OnServer()); err != nil && !s.isTop() {
		return nil, s.address.Name().Failure(protocol.Usage, "read address", err, "use letters, digits, and - _ . inside of names")
	}
	if hasBreak(a.User) {
		return nil, s.address.Name().Failure(protocol.Usage, "read address", errors.New("the user's name holds control characters"), "remove them")
	}
	if s.secure() {
		var err error
		if s.roots, err = access.Roots(); err != nil {
			return nil, s.address.Name().Failure(protocol.Config, "read certificates", err, "name a file with certificates in PEM")
		}
	}
	return s, nil
}

func (s *server) secure() bool { return s.address.Scheme == SchemeTLS }

// implicit reports that TLS begins before the server greets, and not after AUTH TLS.
func (s *server) implicit() bool {
	if !s.secure() {
		return false
	}
	told := s.address.Options[optionTLS]
	return told == implicit || told == "" && strings.HasSuffix(s.address.Host, ":"+ImplicitPort)
}

// isTop reports whether the path is not that of a lock, but of the root or of the directory where
// the log in leads.
func (s *server) isTop() bool { return s.address.OnServer() == "" || s.address.OnServer() == "/" }

// name is the lock's name in its directory.
func (s *server) name() string {
	if s.isTop() {
		return "."
	}
	return path.Base(s.address.OnServer())
}

// at returns the server's path for a name in the lock's directory.
func (s *server) at(name string) (string, error) {
	dir := path.Dir(s.address.OnServer())
	if name == "." {
		return dir, nil
	}
	name = strings.TrimPrefix(name, "./")
	err := checkName(name)
	if strings.HasPrefix(name, "/") {
		err = errors.New("it is not below the lock's directory")
	}
	if err != nil {
		return "", s.address.Name().Failure(protocol.Usage, "name "+servers.ShortPath(protocol.CleanText(name, maxComponent)), err, "")
	}
	return path.Join(dir, name), nil
}

// hostPort returns the address to connect to, and the host alone.
func (s *server) hostPort() (hostPort, host string) {
	if host, _, err := net.SplitHostPort(s.address.Host); err == nil {
		return s.address.Host, host
	}
	host = strings.Trim(s.address.Host, "[]")
	if s.implicit() {
		return net.JoinHostPort(host, ImplicitPort), host
	}
	return net.JoinHostPort(host, Port), host
}

// hasBreak reports whether s contains a character that would end a command.
func hasBreak(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

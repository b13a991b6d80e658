package ftpserver

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/jlaffaye/ftp"

	"locksmith/test/lab"
)

// dial logs in to a server at an address, perhaps a proxy's.
func dial(t *testing.T, s *Server, addr string) (*ftp.ServerConn, error) {
	t.Helper()
	options := []ftp.DialOption{ftp.DialWithTimeout(lab.Patience), ftp.DialWithShutTimeout(lab.Patience)}
	if s.CA != "" {
		options = append(options, ftp.DialWithExplicitTLS(trusting(t, s)))
	}
	c, err := ftp.Dial(addr, options...)
	if err != nil {
		return nil, err
	}
	if err := c.Login(s.User, s.Password); err != nil {
		_ = c.Quit()
		return nil, err
	}
	t.Cleanup(func() { _ = c.Quit() })
	return c, nil
}

// login is dial for a login that must succeed.
func login(t *testing.T, s *Server, addr string) *ftp.ServerConn {
	t.Helper()
	c, err := dial(t, s, addr)
	if err != nil {
		t.Fatalf("log in to %s: %v", s.Kind, err)
	}
	return c
}

// trusting returns what a client needs for TLS with the server.
func trusting(t *testing.T, s *Server) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in " + s.CA)
	}
	return &tls.Config{
		RootCAs: authorities, ServerName: "127.0.0.1",
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
}

package ftp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// certificate makes a certificate for 127.0.0.1 that signs itself.
func certificate(t testing.TB) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// offerTLS lets the fake accept AUTH. It returns the file with the certificate to trust.
func (f *fake) offerTLS() (ca string) {
	f.t.Helper()
	own, file := certificate(f.t)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tls = &tls.Config{Certificates: []tls.Certificate{own}}
	return file
}

// secureDir is dir with TLS.
func (f *fake) secureDir() *Dir {
	f.t.Helper()
	return f.dir(trusting(f.offerTLS()))
}

func trusting(ca string) func(*backend.Address, *backend.Access) {
	return func(a *backend.Address, access *backend.Access) {
		a.Scheme = SchemeTLS
		access.CA = ca
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	d := f.secureDir()
	holds(t, d, "L", "a", "bb")
	holds(t, d, ".", "a", "bb")
	if got := f.sent(""); got[0] != "1 AUTH TLS" || len(f.sent("PROT P")) != 1 {
		t.Errorf("over ftps: was sent %q, want AUTH TLS first, and PROT P once", got)
	}
	if _, err := d.Session(soon(t)); err != nil {
		t.Error(err)
	}
}

// implicitly makes an address one of a server on which TLS begins before the greeting.
func implicitly(a *backend.Address, _ *backend.Access) {
	a.Options = map[string]string{optionTLS: implicit}
}

func TestTLSImplicit(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	f.mu.Lock()
	f.implicit = true
	f.mu.Unlock()
	d := f.dir(trusting(f.offerTLS()), implicitly)
	holds(t, d, "L", "a", "bb")
	if len(f.sent("AUTH")) > 0 || len(f.sent("PROT P")) != 1 {
		t.Errorf("with ?tls=implicit was sent %q, want no AUTH, and PROT P once", f.sent(""))
	}
	if _, err := d.Session(soon(t)); err != nil {
		t.Error(err)
	}
}

// TestTLSBegins: whoever chose the wrong beginning is told of the other.
func TestTLSBegins(t *testing.T) {
	t.Parallel()
	_, ca := certificate(t)
	silent := func(c *talk) { c.hang() }
	for name, c := range map[string]struct {
		answer func(*talk)
		change []func(*backend.Address, *backend.Access)
		says   string
	}{
		"ftps: and no greeting":                {silent, []func(*backend.Address, *backend.Access){trusting(ca)}, "?tls=implicit"},
		"ftp: and no greeting":                 {silent, nil, "?tls=implicit"},
		"implicit and a greeting in the clear": {(*talk).obey, []func(*backend.Address, *backend.Access){trusting(ca), implicitly}, "?tls=explicit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startFake(t).when(greeting, c.answer).dir(c.change...)
			d.server.timeout = 2 * time.Second
			err := d.Mkdir(soon(t), "L")
			var e *backend.Error
			if !errors.As(err, &e) || e.Code != "unreachable" || !strings.Contains(e.Hint, c.says) {
				t.Errorf("Mkdir returns %v, want an error with code unreachable that says %s", err, c.says)
			}
		})
	}
}

// TestTLSPort: the port tells when TLS begins, unless the address does.
func TestTLSPort(t *testing.T) {
	for address, want := range map[string]string{
		"ftps://h/L":                        "h:21 false",
		"ftps://h:990/L":                    "h:990 true",
		"ftps://h/L?tls=implicit":           "h:990 true",
		"ftps://h:2121/L?tls=implicit":      "h:2121 true",
		"ftps://h:990/L?tls=explicit":       "h:990 false",
		"ftps://[::1]/L?tls=implicit":       "[::1]:990 true",
		"ftp://h:990/L":                     "h:990 false",
		"ftp://h/L?tls=implicit":            "usage",
		"ftps://h/L?tls=yes":                "usage",
		"ftps://h/L?style=dir&tls=explicit": "h:21 false",
	} {
		schemes := []backend.Scheme{{Name: SchemePlain, Port: Port}, {Name: SchemeTLS, Port: Port}}
		a, err := backend.ParseAddress(address, schemes)
		if err != nil {
			t.Fatal(err)
		}
		got := "usage"
		if _, err := Open(a, backend.Access{}); err == nil {
			s, err := newServer(a, backend.Access{})
			if err != nil {
				t.Fatal(err)
			}
			where, _ := s.hostPort()
			got = fmt.Sprint(where, " ", s.implicit())
		} else if come(err) != "usage" {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%s connects to %s, want %s (true: TLS begins before the greeting)", address, got, want)
		}
	}
}

// TestTLSResumes: data connections resume the session of the control connection.
func TestTLSResumes(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		f := startFake(t)
		d := f.secureDir()
		f.tls.MaxVersion = version
		f.when("NLST", func(c *talk) {
			c.say("150 here it comes")
			conn, _ := c.accepted()
			defer conn.Close()
			secured := conn.(*tls.Conn)
			if err := secured.Handshake(); err != nil || !secured.ConnectionState().DidResume {
				t.Errorf("with %s a second connection does not resume the session of the first, as servers ask of data connections; the error is %v", tls.VersionName(version), err)
			}
			conn.Close()
			c.say("226 done")
		})
		for range 5 {
			holds(t, d, "L")
		}
	}
}

// TestTLSOnly: no command in the clear goes to a server that should use TLS, and no TLS to one
// that should not.
func TestTLSOnly(t *testing.T) {
	t.Parallel()
	_, ca := certificate(t)
	for name, reply := range map[string]string{"refused": "502 no", "later": "421 not now", "odd": "334 more"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when("AUTH", says(reply))
			err := f.dir(trusting(ca)).Mkdir(soon(t), "L")
			if err == nil || len(f.sent("")) != 1 {
				t.Errorf("the server refuses TLS: Mkdir returns %v, and was sent %q; want an error, and nothing after AUTH", err, f.sent(""))
			}
		})
	}
	t.Run("refused PROT", func(t *testing.T) {
		t.Parallel()
		f := startFake(t).when("PROT", says("536 no"))
		if err := f.secureDir().Mkdir(soon(t), "L"); come(err) != "unreachable" || len(f.sent("MKD")) > 0 {
			t.Errorf("the server does not protect listings: Mkdir returns %v, and was sent %q; want an error, and no MKD", err, f.sent(""))
		}
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		f := startFake(t)
		f.offerTLS()
		if err := f.dir().Mkdir(soon(t), "L"); err != nil || len(f.sent("AUTH"))+len(f.sent("PROT")) > 0 {
			t.Errorf("ftp: at a server that offers TLS: Mkdir returns %v, and was sent %q; want no error, and neither AUTH nor PROT", err, f.sent(""))
		}
	})
}

// TestTLSInjected: words in the clear are not taken for the server's.
func TestTLSInjected(t *testing.T) {
	t.Parallel()
	f := startFake(t).when("AUTH", says("234 go on\r\n331 password?\r\n230 welcome"))
	if err := f.secureDir().Mkdir(soon(t), "L"); come(err) != "unreachable" || len(f.sent("")) > 1 {
		t.Errorf("Mkdir returns %v, and was sent %q; want an error with code unreachable, and nothing after AUTH", err, f.sent(""))
	}
}

func TestTLSCertificate(t *testing.T) {
	t.Parallel()
	_, other := certificate(t)
	for name, access := range map[string]func(*backend.Address, *backend.Access){
		"unknown authority": trusting(other),
		"wrong name": func(a *backend.Address, access *backend.Access) {
			_, port, _ := net.SplitHostPort(a.Host)
			a.Scheme, a.Host = SchemeTLS, "localhost:"+port
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t)
			f.offerTLS()
			err := f.dir(access).Mkdir(soon(t), "L")
			var e *backend.Error
			if !errors.As(err, &e) || e.Code != "unreachable" || !strings.Contains(e.Hint, "--insecure") || len(f.sent("")) > 1 {
				t.Errorf("the certificate cannot be trusted: Mkdir returns %v, and was sent %q; want an error that names --insecure, and nothing after AUTH", err, f.sent(""))
			}
			reckless := f.dir(access, func(_ *backend.Address, access *backend.Access) { access.Insecure = true })
			if err := reckless.Mkdir(soon(t), "L"); err != nil {
				t.Error("insecure:", err)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		a := backend.Address{Scheme: SchemeTLS, Host: "h", Path: "/L"}
		for _, file := range []string{"/no/such/file", "/dev/null"} {
			if _, err := newServer(a, backend.Access{CA: file}); come(err) != "config" {
				t.Error(err)
			}
		}
	})
}

// TestTLSOld: versions that are no longer safe are refused.
func TestTLSOld(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	d := f.secureDir()
	f.tls.MinVersion, f.tls.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if err := d.Mkdir(soon(t), "L"); come(err) != "unreachable" || len(f.sent("")) > 1 {
		t.Errorf("Mkdir returns %v, and was sent %q; want an error with code unreachable, and nothing after AUTH", err, f.sent(""))
	}
}

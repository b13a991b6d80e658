//go:build linux

package etcd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
)

// try tries once to take a lock, and returns the error.
func try(t *testing.T, address string, access backend.Access) error {
	t.Helper()
	l, err := open(address, access)
	backendtest.MustWork(t, err)
	r := backendtest.Request()
	r.Timeout = 0
	a, err := l.Attempt(r)
	backendtest.MustWork(t, err)
	h, err := a.Try(t.Context())
	if err == nil {
		backendtest.MustRelease(t, h)
	}
	return err
}

// mustLast checks whether an error says that it lasts.
func mustLast(t *testing.T, err error, lasts bool) {
	t.Helper()
	if e, ok := errors.AsType[*backend.Error](err); !ok || e.Lasts != lasts || e.Hint == "" {
		t.Errorf("%v: its error is %#v, want a hint, and that it lasts: %v", err, e, lasts)
	}
}

// TestNoEtcd: what answers is not etcd, or not as asked. That is never "free", and says what to do.
func TestNoEtcd(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<html>ask the administrator</html>")
	})
	plain, tls, h2 := httptest.NewServer(page), httptest.NewUnstartedServer(page), httptest.NewUnstartedServer(page)
	tls.EnableHTTP2 = true
	tls.StartTLS()
	h2.Config.Protocols = new(http.Protocols)
	h2.Config.Protocols.SetUnencryptedHTTP2(true)
	h2.Start()
	for _, s := range []*httptest.Server{plain, tls, h2} {
		t.Cleanup(s.Close)
	}
	nobody := lab.ReservePort(t)
	for what, test := range map[string]struct {
		host, query, says string
		lasts             bool
	}{
		"a port at which nobody listens": {fmt.Sprintf("127.0.0.1:%d", nobody), "", "connection refused", false},
		"a page":                         {plain.Listener.Addr().String(), "", "such as a proxy", false},
		"a page by HTTP/2":               {h2.Listener.Addr().String(), "", "such as a proxy", false},
		"TLS where none is":              {plain.Listener.Addr().String(), "?tls=yes", "leave out ?tls=yes", true},
		"no TLS where some is":           {tls.Listener.Addr().String(), "", "add ?tls=yes", false},
		"an unknown certificate":         {tls.Listener.Addr().String(), "?tls=yes", "--ca", true},
		"a name that nobody has":         {"nowhere.invalid", "", "correct the host's name", true},
	} {
		t.Run(what, func(t *testing.T) {
			err := try(t, "etcd://"+test.host+"/x"+test.query, backend.Access{})
			backendtest.MustFail(t, err, protocol.Unreachable, test.says)
			mustLast(t, err, test.lasts)
			backendtest.MustBePrintable(t, err.Error())
		})
	}
}

// certificate writes a certificate for 127.0.0.1, signed by itself, and its key, to one file, and to
// two beside it.
func certificate(t *testing.T) (file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	backendtest.MustWork(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "alice"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	backendtest.MustWork(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	backendtest.MustWork(t, err)
	file = filepath.Join(t.TempDir(), "cert.pem")
	cert, secret := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	backendtest.MustWork(t, os.WriteFile(file, slices.Concat(cert, secret), 0o600), os.WriteFile(file+".cert", cert, 0o600), os.WriteFile(file+".key", secret, 0o600))
	return file
}

// TestTLS: a server that wants TLS, and a certificate of ours.
func TestTLS(t *testing.T) {
	file := certificate(t)
	c := etcdserver.Start(t, etcdserver.Options{Scheme: "https", Flags: []string{"--cert-file", file + ".cert", "--key-file", file + ".key", "--trusted-ca-file", file + ".cert", "--client-cert-auth"}})
	address := c.Address("x")
	ours := backend.Access{CA: file, Certificate: file}
	lab.Eventually(t, "etcd answers", func() bool { return try(t, address+"?tls=yes", ours) == nil }, c.Said)
	err := try(t, address, backend.Access{})
	backendtest.MustFail(t, err, protocol.Unreachable, "add ?tls=yes")
	err = try(t, address+"?tls=yes", ours2(ours, func(a *backend.Access) { a.CA = "" }))
	backendtest.MustFail(t, err, protocol.Unreachable, "--ca")
	// By TLS 1.3 the server refuses after the handshake, so some connections just end.
	lab.Eventually(t, "the missing certificate is told", func() bool {
		err = try(t, address+"?tls=yes", ours2(ours, func(a *backend.Access) { a.Certificate = "" }))
		backendtest.MustFail(t, err, protocol.Unreachable, "")
		return strings.Contains(err.Error(), "$LOCKSMITH_CERTIFICATE")
	}, func() string { return err.Error() })
	err = try(t, address+"?tls=yes", ours2(ours, func(a *backend.Access) { a.Certificate = "/nowhere" }))
	backendtest.MustFail(t, err, protocol.Config, "read certificates")
	if err := try(t, address+"?tls=yes", ours2(ours, func(a *backend.Access) { a.CA, a.Insecure = "", true })); err != nil {
		t.Errorf("with --insecure: %v", err)
	}
}

func ours2(a backend.Access, change func(*backend.Access)) backend.Access {
	change(&a)
	return a
}

// TestUsers: who may do what, where authentication is on.
func TestUsers(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{Flags: []string{"--bcrypt-cost", "4"}}) // doctor logs in 34 times
	admin := c.Client()
	ctx := t.Context()
	for name, role := range map[string]string{"root": "root", "alice": "locks", "bob": ""} {
		_, err := admin.UserAdd(ctx, name, name+"'s secret")
		backendtest.MustWork(t, err)
		if role == "" {
			continue
		}
		_, err = admin.RoleAdd(ctx, role)
		backendtest.MustWork(t, err)
		_, err = admin.UserGrantRole(ctx, name, role)
		backendtest.MustWork(t, err)
	}
	_, err := admin.RoleGrantPermission(ctx, "locks", "locks/", clientv3.GetPrefixRangeEnd("locks/"), clientv3.PermissionType(clientv3.PermReadWrite))
	backendtest.MustWork(t, err)
	_, err = admin.AuthEnable(ctx)
	backendtest.MustWork(t, err)
	knows := backend.Access{Password: func(user, host string) (string, string, error) {
		if host != c.Host(0) {
			t.Errorf("asked for the password at %s, want %s", host, c.Host(0))
		}
		return user + "'s secret", "", nil
	}}
	wrong := backend.Access{Password: func(string, string) (string, string, error) { return "s3cret", "", nil }}
	as := func(user, path string) string { return "etcd://" + user + c.Host(0) + "/" + path }
	if err := try(t, as("alice@", "locks/x"), knows); err != nil {
		t.Errorf("who may: %v", err)
	}
	for what, test := range map[string]struct {
		address, says string
		access        backend.Access
	}{
		"nobody":              {as("", "locks/x"), "name a user", knows},
		"no password":         {as("alice@", "locks/x"), "no password is known", backend.Access{}},
		"a wrong password":    {as("alice@", "locks/x"), "correct the user's name or the password", wrong},
		"an unknown user":     {as("carol@", "locks/x"), "correct the user's name or the password", knows},
		"no right":            {as("bob@", "locks/x"), "grant-permission", knows},
		"no right there":      {as("alice@", "other/x"), "grant-permission", knows},
		"no right to see all": {as("alice@", "lock/x"), "grant-permission", knows},
	} {
		t.Run(what, func(t *testing.T) {
			err := try(t, test.address, test.access)
			backendtest.MustFail(t, err, protocol.Permission, test.says)
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
	l, err := open(as("alice@", "locks/x"), knows)
	backendtest.MustWork(t, err)
	if got := examined(t, l); got.Finding != backend.Weak || !strings.Contains(got.Text, "in the clear") {
		t.Errorf("doctor, with a password and without TLS: %+v", got)
	}
	l, err = open(as("bob@", "locks/x"), knows)
	backendtest.MustWork(t, err)
	if got := examined(t, l); got.Finding != backend.Unfit {
		t.Errorf("doctor, without rights: %+v", got)
	}
}

// examined is what doctor finds worst.
func examined(t *testing.T, l *lock) (worst backend.Check) {
	t.Helper()
	var all []backend.Check
	backendtest.MustWork(t, l.Examine(t.Context(), backend.Examination{Rounds: 3}, func(c backend.Check) { all = append(all, c) }))
	i := max(slices.IndexFunc(all, func(c backend.Check) bool { return c.Finding == backend.Verdict(all) }), 0)
	return all[i]
}

// TestForeignKeys: keys of others below the prefix are neither locks, nor ever touched.
func TestForeignKeys(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	const prefix = "mine/"
	id := owner.NewID()
	var foreign []string
	for _, name := range []string{"x.", "s.", "x.1", "x." + id[1:], "x." + id + "0", "x." + strings.ToUpper(id), "y." + id, "x." + id + "/y", "config", "sub/deep/key", "locksmith.", "locksmith.tokens", "694d97fe13c5a905"} {
		c.Put(t, prefix+name, "theirs")
		foreign = append(foreign, name)
	}
	c.Put(t, "mine", "theirs")
	c.Put(t, "mineral/x."+id, "theirs")
	l := mustOpen(t, c.Address("mine"))
	a, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustHold(t, a)
	backendtest.MustFail(t, backend.Break(t.Context(), l, l.Name, backend.Holder{ID: id}), protocol.Gone, "")
	backendtest.MustWork(t, h.Tend(t.Context()), l.Remove(t.Context(), h))
	if left, want := c.Keys(t, prefix), slices.Sorted(slices.Values(foreign)); !slices.Equal(left, want) {
		t.Errorf("there are %q, want %q", left, want)
	}
	if r, err := l.Read(t.Context()); r.Stays || err != nil {
		t.Errorf("after all of the lock was removed something stays: %+v, %v", r, err)
	}
	var found []string
	s, err := mustPlace(t, c.Address("")).Search(t.Context())
	backendtest.MustWork(t, err, s.Flat(t.Context(), func(dir string) error { found = append(found, dir); return nil }))
	if want := []string{"mineral/"}; !slices.Equal(found, want) {
		t.Errorf("list finds locks in %q, want %q", found, want)
	}
	if got := examined(t, l); got.Finding != backend.Fit {
		t.Errorf("doctor finds %+v", got)
	}
	lease, err := c.Client().Grant(t.Context(), 60)
	backendtest.MustWork(t, err)
	_, err = c.Client().Put(t.Context(), fmt.Sprintf("%s%x", prefix, lease.ID), "", clientv3.WithLease(lease.ID))
	backendtest.MustWork(t, err)
	if got := examined(t, l); got.Finding != backend.Weak || !strings.Contains(got.Text, "etcdctl lock") {
		t.Errorf("beside a lock of etcdctl doctor finds %+v", got)
	}
}

func mustPlace(t *testing.T, address string) *lock {
	t.Helper()
	a, err := backend.ParsePlace(address, schemes)
	backendtest.MustWork(t, err)
	l, err := Open(a, backend.Access{})
	backendtest.MustWork(t, err)
	return l.(*lock)
}

// TestCompacted: a waiter whose revision was compacted, before its watch or during it, gets its turn.
func TestCompacted(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	address := fresh(c)
	compact := func() {
		t.Helper()
		client := c.Client()
		for range 3 {
			_, err := client.Put(t.Context(), "elsewhere", "")
			backendtest.MustWork(t, err)
		}
		r, err := client.Get(t.Context(), "elsewhere")
		backendtest.MustWork(t, err)
		_, err = client.Compact(t.Context(), r.Header.Revision)
		backendtest.MustWork(t, err)
	}
	take := func() backend.Attempt {
		a, err := mustOpen(t, address).Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		return a
	}
	h, waiter := backendtest.MustHold(t, take()), take()
	backendtest.MustBeHeld(t, waiter)
	compact()
	backendtest.MustWork(t, waiter.Wait(t.Context())) // returns, since nobody can tell any more what became of it
	backendtest.MustBeHeld(t, waiter)
	done := make(chan error, 1)
	go func() { done <- waiter.Wait(t.Context()) }()
	compact()
	backendtest.MustStillHold(t, h)
	backendtest.MustRelease(t, h)
	backendtest.MustWork(t, <-done)
	backendtest.MustRelease(t, backendtest.MustAcquire(t, waiter))
}

// TestLimits: a server without space, or with a small limit of requests, refuses new holders. Who has
// the lock keeps it, and can release it.
func TestLimits(t *testing.T) {
	small := etcdserver.Start(t, etcdserver.Options{Flags: []string{"--max-request-bytes", "300"}})
	backendtest.MustFail(t, try(t, fresh(small), backend.Access{}), protocol.CannotCreate, "shorten the metadata")

	full := etcdserver.Start(t, etcdserver.Options{Flags: []string{"--quota-backend-bytes", "1000000"}})
	address := fresh(full)
	a, err := mustOpen(t, address).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustHold(t, a)
	client, value := full.Client(), strings.Repeat("x", 100_000)
	for i := 0; err == nil; i++ {
		_, err = client.Put(t.Context(), fmt.Sprint("filler", i), value)
	}
	backendtest.MustStillHold(t, h)
	backendtest.MustFail(t, try(t, fresh(full), backend.Access{}), protocol.CannotCreate, "make space there")
	backendtest.MustRelease(t, h)
}

// TestEarly: doctor names versions that may revoke leases early, and Debian's is one.
func TestEarly(t *testing.T) {
	for version, early := range map[string]bool{"3.3.27": true, "3.4.23": true, "3.4.30": true, "3.4.31": false, "3.5.0": true, "3.5.12": true, "3.5.13": false, "3.6.0": false, "3.7.3": false, "4.0.0": false} {
		if got := revokesEarly(version); got != early {
			t.Errorf("etcd %s may revoke leases early: %v, want %v", version, got, early)
		}
	}
	c := etcdserver.Start(t, etcdserver.Options{Program: etcdserver.Debian})
	if got := examined(t, mustOpen(t, fresh(c))); got.Finding != backend.Unfit || !strings.Contains(got.Text, "etcd 3.4.") {
		t.Errorf("doctor finds of Debian's: %+v", got)
	}
	if err := try(t, fresh(c), backend.Access{}); err != nil {
		t.Errorf("an old server cannot be used at all: %v", err)
	}
}

// TestIdle: a waiter that sleeps sends nothing but what keeps its lease, a request each third of it.
func TestIdle(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	address, r := fresh(c), backendtest.Request()
	r.Owner.Lease = 3 * time.Second
	a, err := mustOpen(t, address).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustHold(t, a)
	waiter, err := mustOpen(t, address).Attempt(r)
	backendtest.MustWork(t, err)
	backendtest.MustBeHeld(t, waiter)
	slept := false
	for range 5 { // on a machine that stands still a wait may end early
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		before := c.Requests(t)
		err := waiter.Wait(ctx)
		sent := c.Requests(t)
		cancel()
		if slept = errors.Is(err, context.DeadlineExceeded); !slept {
			backendtest.MustBeHeld(t, waiter)
			continue
		}
		for method, n := range sent {
			if n -= before[method]; n > 0 && method != "LeaseKeepAlive" && method != "Watch" || n > 4 {
				t.Errorf("a waiter sent %d requests %s in 4 s, with a lease of %v", n, method, r.Owner.Lease)
			}
		}
		break
	}
	if !slept {
		t.Error("no wait lasted")
	}
	backendtest.MustWithdraw(t, waiter)
	backendtest.MustRelease(t, h)
}

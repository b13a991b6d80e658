package ftp

import (
	"context"
	"flag"
	"os"
	"path"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/ftpserver"
)

// connectTo returns the directory of a lock L at a server.
func connectTo(t testing.TB, s *ftpserver.Server, addr string) *Dir {
	t.Helper()
	a := backend.Address{Scheme: SchemePlain, User: s.User, Host: addr, Path: path.Join(s.Home, "L")}
	access := backend.Access{CA: s.CA, Password: func(string, string) (string, error) { return s.Password, nil }}
	if s.CA != "" {
		a.Scheme = SchemeTLS
	}
	at, err := newServer(a, access)
	if err != nil {
		t.Fatal(err)
	}
	at.timeout = lasting
	d := at.newDir()
	t.Cleanup(d.Close)
	return d
}

// lasting is how long servers may take for a command, and late when what must not wait
// for that has done so, even on a busy machine.
const (
	lasting = 32 * time.Second
	late    = lasting / 4
)

// soon is a context that ends before a test hangs.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestMain lets more tests run at a time than there are processors: most of them
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // the testing package has changed
	}
	os.Exit(m.Run())
}

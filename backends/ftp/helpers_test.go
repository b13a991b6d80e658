package ftp

import (
	"context"
	"path"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// connectTo returns the directory of a lock L at a server.
func connectTo(t testing.TB, s *ftpserver.Server, addr string) *Dir {
	t.Helper()
	a := backend.Address{Scheme: SchemePlain, User: s.User, Host: addr, Path: path.Join(s.Home, "L")}
	access := backend.Access{CA: s.CA, Password: func(string, string) (string, string, error) { return s.Password, "", nil }}
	if s.CA != "" {
		a.Scheme = SchemeTLS
	}
	if s.Implicit {
		a.Options = map[string]string{optionTLS: implicit}
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

// lasting is how long servers may take for a command. late is when a step that must not wait so
// long has been made, even on a machine that was paused.
const (
	lasting = 4 * late
	late    = time.Minute
)

// soon is a context that ends before a test hangs.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	t.Cleanup(cancel)
	return ctx
}

// A swift clock runs ten times as fast, for pauses between connections.
type swift struct{ clock.Boot }

func (c swift) Now() time.Duration { return 10 * c.Boot.Now() }

func (c swift) NewTimer(d time.Duration) clock.Timer { return c.Boot.NewTimer(d / 10) }

func TestMain(m *testing.M) {
	lab.Parallel(24)
	lab.Main(m, nil)
}

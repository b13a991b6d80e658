package backends_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ftplib "github.com/fclairamb/ftpserverlib"
	"github.com/spf13/afero"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/member"
	"locksmith/backends/set"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

func TestKey(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"ftp://alice@h/l", "ftp://alice@H:21/./l?style=dir", true},
		{"ftp://alice@h/l", "ftps://alice@h/l", true},
		{"ftp://h/l", "ftp://anonymous@h/l", true},
		{"ftp://alice@h/l", "ftp://bob@h/l", false}, // each may have a home of their own
		{"ftp://alice@h/l", "ftp://alice@i/l", false},
		{"local:" + dir + "/l", "local:" + link + "/l", true},
		{"local:" + dir + "/l", "mkdir:" + dir + "/l", false},
	} {
		if got := backends.Usual().Key(c.one) == backends.Usual().Key(c.other); got != c.same {
			t.Errorf("%s and %s the same: %v", c.one, c.other, got)
		}
	}
	// Where users share a tree, no two sets may be taken in opposite orders.
	for _, users := range [][2]string{{"alice", "bob"}, {"bob", "alice"}} {
		if one, other := backends.Usual().Key("ftp://"+users[0]+"@h/a"), backends.Usual().Key("ftp://"+users[1]+"@h/b"); one >= other {
			t.Errorf("%q does not come before %q", one, other)
		}
	}
}

// TestUsersOfOneServer: what two users name alike are two locks where their homes differ,
// and both are taken; where it is one, the set says so and leaves nothing.
func TestUsersOfOneServer(t *testing.T) {
	hers, his := t.TempDir(), t.TempDir()
	addr := serve(t, homes{"alice": hers, "bob": his, "clerk": hers})
	as := func(user string) string { return "ftp://" + user + "@" + addr + "/l" }
	for _, style := range []string{"", "?style=dir"} {
		t.Run("two"+style, func(t *testing.T) {
			h, err := take(t, as("alice")+style, as("bob")+style)
			if err != nil {
				t.Fatal(err)
			}
			for user, dir := range (homes{"alice": hers, "bob": his}) {
				if _, err := os.Stat(filepath.Join(dir, "l")); err != nil {
					t.Errorf("%s has not got it: %v", user, err)
				}
				var held *backend.HeldError
				if _, err := take(t, as(user)+style); !errors.As(err, &held) {
					t.Errorf("%s can take it again: %v", user, err)
				}
			}
			if err := h.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
		t.Run("one"+style, func(t *testing.T) {
			_, err := take(t, as("alice")+style, as("clerk")+style)
			if backend.CodeOf(err) != protocol.Usage || !strings.Contains(fmt.Sprint(err), "the same lock as ftp://") {
				t.Errorf("got %v", err)
			}
			h, err := take(t, as("alice")+style)
			if err != nil {
				t.Fatalf("something is left: %v", err)
			}
			if err := h.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if err := os.RemoveAll(filepath.Join(hers, "l")); err != nil { // of the other style
			t.Error(err)
		}
	}
}

// take tries once to take all of them.
func take(t *testing.T, addresses ...string) (backend.Hold, error) {
	t.Helper()
	var locks []member.Lock
	for _, address := range addresses {
		b, canonical, err := backends.Usual().Open(address, backend.Access{Password: func(string, string) (string, string, error) { return "pw", "", nil }})
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, member.Lock{Address: canonical, Locker: b, Key: func() string { return backends.Usual().Key(canonical) },
			Ask: func(r backend.Request) backend.Request { return r }})
	}
	s, err := set.New(locks)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := a.Try(ctx)
	if err != nil {
		if err := a.Withdraw(ctx); err != nil {
			t.Error(err)
		}
	}
	return h, err
}

// homes are the users of an FTP server, and what each sees as "/".
type homes map[string]string

// serve starts a server and returns its address.
func serve(t *testing.T, users homes) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := ftplib.NewFtpServer(door{users, listener})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	go func() { _ = server.Serve() }()
	return listener.Addr().String()
}

// A door answers what the server's library asks.
type door struct {
	homes
	listener net.Listener
}

func (d door) GetSettings() (*ftplib.Settings, error) {
	return &ftplib.Settings{Listener: d.listener, DisableActiveMode: true}, nil
}

func (d door) AuthUser(_ ftplib.ClientContext, user, _ string) (ftplib.ClientDriver, error) {
	home, known := d.homes[user]
	if !known {
		return nil, errors.New("who is that?")
	}
	return afero.NewBasePathFs(afero.NewOsFs(), home), nil
}

func (door) ClientConnected(ftplib.ClientContext) (string, error) { return "test", nil }
func (door) ClientDisconnected(ftplib.ClientContext)              {}
func (door) GetTLSConfig() (*tls.Config, error)                   { return nil, errors.New("no TLS") }

// TestTiming: only the times of link: are not everybody's.
func TestTiming(t *testing.T) {
	if usual, ok := backends.Usual().Timing("link:/x"); !ok || usual != (backends.Timing{Lease: time.Hour, Refresh: 8 * time.Second}) {
		t.Errorf("link: %+v", usual)
	}
	if usual, ok := backends.Usual().Timing("nfs:/x"); ok {
		t.Errorf("nfs: %+v", usual)
	}
}

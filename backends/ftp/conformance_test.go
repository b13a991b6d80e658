//go:build unix

package ftp

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
)

// TestConformance is for the plain style. The algorithm of both styles is tested in its own
// package.
func TestConformance(t *testing.T) {
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture { return fixture(t, s, "plain") }})
}

// TestStyles: both styles lock at every server.
func TestStyles(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpserver.Kinds() {
		for _, style := range []string{"plain", "dir"} {
			t.Run(kind+"/"+style, func(t *testing.T) {
				t.Parallel()
				f := fixture(t, ftpserver.Start(t, kind, ftpserver.Options{}), style)
				last := uint64(0)
				for range 3 {
					last = lockOnce(t, f, style, last)
				}
				if left := f.Leftovers(); len(left) > 0 {
					t.Errorf("after the last release the server still has %q, want nothing", left)
				}
			})
		}
	}
}

// lockOnce takes a lock, checks that others cannot take it then, and releases it.
func lockOnce(t *testing.T, f backendtest.Fixture, style string, last uint64) uint64 {
	t.Helper()
	h, err := try(t, f, backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	if h.Token() <= last && style == "dir" {
		t.Errorf("the fencing token is %d after one of %d, want a greater one", h.Token(), last)
	}
	var held *backend.HeldError
	if _, err := try(t, f, backendtest.Request()); !errors.As(err, &held) || held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
		t.Errorf("another try of a held lock returns %v, want a HeldError with the record of %s", err, h.ID())
	}
	if err := h.Heartbeat(soon(t)); err != nil {
		t.Error("heartbeat:", err)
	}
	if err := h.Release(soon(t)); err != nil {
		t.Error("release:", err)
	}
	return h.Token()
}

func try(t *testing.T, f backendtest.Fixture, r backend.Request) (backend.Hold, error) {
	t.Helper()
	a, err := f.Open().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Try(soon(t))
	if err != nil {
		if err := a.Withdraw(soon(t)); err != nil {
			t.Error("withdraw:", err)
		}
	}
	return h, err
}

// fixture is a lock in a directory of its own at a server.
func fixture(t *testing.T, s *ftpserver.Server, style string) backendtest.Fixture {
	dir, err := os.MkdirTemp(s.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t // the user as whom the server works
	if err := errors.Join(unix.Stat(s.Dir, &st), os.Chown(dir, int(st.Uid), int(st.Gid)), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(dir, "lock")
	a := backend.Address{Scheme: SchemePlain, User: s.User, Host: s.Addr,
		Path: path.Join(s.Home, filepath.Base(dir), "lock"), Options: map[string]string{"style": style}}
	access := backend.Access{Password: func(string, string) (string, string, error) { return s.Password, "", nil }}
	return backendtest.Fixture{
		Open: func() backend.Backend {
			b, err := Open(a, access)
			if err != nil {
				t.Fatal(err)
			}
			lockOf(b).Pace = mkdirlock.Pace{Min: time.Millisecond, Max: 50 * time.Millisecond}
			return b
		},
		Leftovers: func() []string { return leftovers(t, place) },
		Remove: func() {
			if err := os.RemoveAll(place); err != nil {
				t.Error(err)
			}
		},
		Abandon: func(backend.Hold) {}, // a connection does not make a holder live
	}
}

// leftovers is what should not be there while the lock is free. In a tree, that is all but the
// tree itself and its newest tokens.
func leftovers(t *testing.T, place string) []string {
	t.Helper()
	all, _ := filepath.Glob(place + "*") // the pattern is good
	tree, _ := filepath.Glob(filepath.Join(place, "*"))
	held, _ := filepath.Glob(filepath.Join(place, "lock", "*"))
	for _, name := range tree {
		if base := filepath.Base(name); base != "lock" && !strings.HasPrefix(base, "fence.") {
			held = append(held, name)
		}
	}
	if len(all) == 1 && len(tree) > 0 && len(held) == 0 {
		return nil
	}
	return append(all, held...)
}

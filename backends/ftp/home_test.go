package ftp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
)

// TestLogInDirectory: a path begins where the log in leads; with two slashes it begins at the
// root. The servers here keep the two apart.
func TestLogInDirectory(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpserver.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := ftpserver.Start(t, kind, ftpserver.Options{Unconfined: true})
			for _, style := range []string{"", "?style=dir"} {
				meets(t, s, "/L"+style, "/"+s.Dir+"/L"+style)
				meets(t, s, "/%2F"+s.Dir[1:]+"/L"+style, "/L"+style)
			}
			left, err := os.ReadDir(s.Dir)
			if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() != "L" }) {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// meets takes a lock by one address, and checks that it is then held by the other address, too.
func meets(t *testing.T, s *ftpserver.Server, path, other string) {
	t.Helper()
	locks := []*mkdirlock.Lock{openAt(t, s, path), openAt(t, s, other)}
	mine, err := locks[0].Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	h, err := mine.Try(soon(t))
	if err != nil {
		t.Fatalf("the lock at %s cannot be taken: %v", path, err)
	}
	defer func() {
		if err := h.Release(soon(t)); err != nil {
			t.Error(err)
		}
	}()
	if entries, err := os.ReadDir(filepath.Join(s.Dir, "L")); err != nil || len(entries) == 0 {
		t.Errorf("%s: it is not in the log in's directory: %v, %v", path, entries, err)
	}
	for _, l := range locks {
		a, err := l.Attempt(backendtest.Request())
		if err != nil {
			t.Fatal(err)
		}
		var held *backend.HeldError
		if _, err := a.Try(soon(t)); !errors.As(err, &held) || held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
			t.Errorf("%s by %s: %v", path, l.Address, err)
		}
		if err := a.Withdraw(soon(t)); err != nil {
			t.Error(err)
		}
	}
}

// openAt opens the lock at a path of an address.
func openAt(t *testing.T, s *ftpserver.Server, path string) *mkdirlock.Lock {
	t.Helper()
	a, err := backend.ParseAddress("ftp://"+s.User+"@"+s.Addr+path, []backend.Scheme{{Name: SchemePlain, Port: Port}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(a, backend.Access{Password: func(string, string) (string, string, error) { return s.Password, "", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return lockOf(b)
}

// lockOf is the lock that Open has opened, whatever its style.
func lockOf(b backend.Backend) *mkdirlock.Lock {
	if l, ok := b.(mkdirlock.DirStyleLock); ok {
		return l.Lock
	}
	return b.(*mkdirlock.Lock)
}

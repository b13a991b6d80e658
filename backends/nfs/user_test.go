//go:build unix

package nfs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// as starts a process of another user that takes the lock.
func as(t *testing.T, uid, umask int, path, mode string) backendtest.User {
	t.Helper()
	return backendtest.As(t, uid, umask, mode+" "+path)
}

func playUser() int {
	return backendtest.PlayUser(func(ctx context.Context, wish string) (backend.Hold, error) {
		mode, path, _ := strings.Cut(wish, " ")
		return acquireAt(ctx, path, mode)
	})
}

func acquireAt(ctx context.Context, path, mode string) (backend.Hold, error) {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path})
	if err != nil {
		return nil, err
	}
	a, err := l.Attempt(requestFor(mode))
	if err != nil {
		return nil, err
	}
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		_ = a.Withdraw(context.Background())
	}
	return h, err
}

// eachPlace runs a test as root with a lock directory of each kind.
func eachPlace(t *testing.T, test func(t *testing.T, path string, umask int)) {
	needRoot(t)
	for _, p := range append([]backendtest.Place{backendtest.Sticky}, backendtest.Places...) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(publicDir(t, 0o755), "lock")
			mustWork(t, os.Mkdir(path, 0o700))
			p.Open(t, path)
			test(t, path, p.Umask)
		})
	}
}

func TestUsersTakeTurns(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, umask int) {
		alice := as(t, 1001, umask, path, "exclusive")
		alice.Expect("OK")
		bob := as(t, 1002, umask, path, "exclusive")
		alice.Release()
		bob.Expect("OK")
		bob.Release()
		mustBeTidy(t, path)
		for _, name := range []string{"R", "G"} {
			st, err := os.Stat(filepath.Join(path, name))
			if err != nil || st.Mode()&os.ModeSticky != 0 {
				t.Errorf("%s has the mode %v, %v; want no sticky bit", name, st.Mode(), err)
			}
		}
	})
}

func TestUsersShare(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, umask int) {
		alice := as(t, 1001, umask, path, "shared")
		alice.Expect("OK")
		bob := as(t, 1002, umask, path, "shared")
		bob.Expect("OK")
		alice.Release()
		carol := as(t, 1003, umask, path, "exclusive")
		bob.Release()
		carol.Expect("OK")
		carol.Release()
		mustBeTidy(t, path)
	})
}

// TestUsersBreakEachOthersDead: a user breaks another user's dead holder.
func TestUsersBreakEachOthersDead(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			eachPlace(t, func(t *testing.T, path string, umask int) {
				alice := as(t, 1001, umask, path, mode)
				alice.Expect("OK")
				alice.Kill()
				bob := as(t, 1002, umask, path, "exclusive")
				bob.Expect("OK")
				bob.Release()
				mustBeTidy(t, path)
			})
		})
	}
}

func TestUnwritable(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o755), "lock")
	as(t, 1001, 0o022, path, "exclusive").Expect("ERR " + string(protocol.Permission))
	if _, err := os.Lstat(path); err == nil {
		t.Error("a user made a lock directory where it may not write")
	}
	mustWork(t, try(t, path, "exclusive")) // root's, with permissions for root only
	mustStay(t, path, func() {
		for _, mode := range modes() {
			as(t, 1001, 0o022, path, mode).Expect("ERR " + string(protocol.Permission))
		}
	})
}

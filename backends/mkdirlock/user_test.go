//go:build unix

package mkdirlock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// as starts a process of another user that waits for the lock, or tries once if waits is "0".
func as(t *testing.T, uid, umask int, path string, k kindOfLock, mode, waits string) backendtest.User {
	t.Helper()
	return backendtest.As(t, uid, umask, wish(path, k, mode, waits))
}

func wish(path string, k kindOfLock, mode, waits string) string {
	return strings.Join([]string{fmt.Sprint(int(k.style)), mode, waits, path}, " ")
}

func playUser() int {
	return backendtest.PlayUser(func(ctx context.Context, asked string) (backend.Hold, error) {
		what := strings.SplitN(asked, " ", 4)
		k := plain
		if what[0] != "0" {
			k = dirStyle
		}
		return acquireAt(ctx, what[3], k, what[1], what[2] != "0")
	})
}

// acquireAt acquires a lock in a process of its own.
func acquireAt(ctx context.Context, path string, k kindOfLock, mode string, waits bool) (backend.Hold, error) {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options(k)})
	if err != nil {
		return nil, err
	}
	a, err := l.Attempt(requestFor(mode))
	if err != nil {
		return nil, err
	}
	var h backend.Hold
	if waits {
		h, err = backend.Acquire(ctx, a)
	} else {
		h, err = a.Try(ctx)
	}
	if err != nil {
		_ = a.Withdraw(context.Background())
	}
	return h, err
}

// eachPlace runs a test as root with a lock in a directory of each kind.
func eachPlace(t *testing.T, test func(t *testing.T, path string, k kindOfLock, umask int)) {
	needRoot(t)
	for _, p := range backendtest.Places {
		for _, k := range []kindOfLock{plain, dirStyle} {
			t.Run(name(p.Name, " ", k), func(t *testing.T) {
				dir := publicDir(t, 0o755)
				p.Open(t, dir)
				test(t, filepath.Join(dir, "lock"), k, p.Umask)
			})
		}
	}
}

func TestUsersTakeTurns(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, k kindOfLock, umask int) {
		alice := as(t, 1001, umask, path, k, "exclusive", "1")
		alice.Expect("OK")
		bob := as(t, 1002, umask, path, k, "exclusive", "1")
		alice.Release()
		bob.Expect("OK")
		bob.Release()
		nothingLeft(t, path)
	})
}

// TestUsersBreakEachOthersDead: a user breaks the lock of another user's dead holder, and removes
// what another user's dead waiter left.
func TestUsersBreakEachOthersDead(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, k kindOfLock, umask int) {
		for _, mode := range modes(k) {
			alice := as(t, 1001, umask, path, k, mode, "1")
			alice.Expect("OK")
			alice.Kill()
			bob := as(t, 1002, umask, path, k, "exclusive", "1")
			bob.Expect("OK")
			bob.Release()
			nothingLeft(t, path)
		}
	})
}

// TestSticky: in a directory like /tmp nobody can remove or rename what others made there. Every
// user can lock. What a dead holder left stays until its own user comes.
func TestSticky(t *testing.T) {
	needRoot(t)
	for _, k := range []kindOfLock{plain, dirStyle} {
		t.Run(k.String(), func(t *testing.T) {
			path := filepath.Join(publicDir(t, 0o777|os.ModeSticky), "lock")
			alice := as(t, 1001, 0o022, path, k, "exclusive", "1")
			alice.Expect("OK")
			bob := as(t, 1002, 0o022, path, k, "exclusive", "1")
			alice.Release()
			bob.Expect("OK")
			bob.Kill()
			carol := as(t, 1003, 0o022, path, k, "exclusive", "0")
			if k == dirStyle { // L itself is not sticky: there every user breaks the dead
				carol.Expect("OK")
				carol.Release()
				return
			}
			if says := carol.Expect("ERR " + string(protocol.Held)); !strings.Contains(says, backend.StickyNote) || !strings.Contains(says, "let its owner break it: locksmith break mkdir:") {
				t.Error(says)
			}
			bob = as(t, 1002, 0o022, path, k, "exclusive", "1")
			bob.Expect("OK")
			bob.Release()
			nothingLeft(t, path)
		})
	}
}

func TestUnwritable(t *testing.T) {
	needRoot(t)
	for _, k := range []kindOfLock{plain, dirStyle} {
		t.Run(k.String(), func(t *testing.T) {
			dir := publicDir(t, 0o755)
			path := filepath.Join(dir, "lock")
			mustStay(t, dir, func() {
				as(t, 1001, 0o022, path, k, "exclusive", "0").Expect("ERR " + string(protocol.Permission))
			})
			h := acquired(t, attemptAt(t, path, k, "exclusive")) // root's, with permissions for root only
			for _, mode := range modes(k) {
				as(t, 1001, 0o022, path, k, mode, "0").Expect("ERR " + string(protocol.Permission))
			}
			mustStillHold(t, h)
			mustRelease(t, h)
			nothingLeft(t, path)
		})
	}
}

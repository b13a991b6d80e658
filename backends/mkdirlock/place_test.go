//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// strangers are things that may stand where a directory should be.
var strangers = []struct {
	name string
	make func(path string) error
}{
	{"file", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) }},
	{"symlink to a directory", func(p string) error { return errors.Join(os.Mkdir(p+"-target", 0o755), os.Symlink(p+"-target", p)) }},
	{"dangling symlink", func(p string) error { return os.Symlink("nowhere", p) }},
	{"FIFO", func(p string) error { return unix.Mkfifo(p, 0o644) }},
}

// TestNotADirectory: something that is no directory stands in the lock's place. Nobody can tell
// whose it is, so it is told of and left alone.
func TestNotADirectory(t *testing.T) {
	for _, s := range strangers {
		t.Run(name(s.name), func(t *testing.T) {
			eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
				if mustWork(t, s.make(path)); k != plain && s.name == "symlink to a directory" {
					return // L itself may be a link: it is followed, like the links before it in the path
				}
				mustStay(t, filepath.Dir(path), func() {
					mustFail(t, try(t, path, k, mode), protocol.CannotCreate, "path")
				})
			})
		})
	}
}

// TestLockInDirStyleIsNotADirectory: L/lock is there, and is no directory.
func TestLockInDirStyleIsNotADirectory(t *testing.T) {
	for _, s := range strangers {
		for _, mode := range modes(dirStyle) {
			t.Run(name(s.name, " ", mode), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "lock")
				mustWork(t, os.Mkdir(path, 0o755), s.make(filepath.Join(path, "lock")))
				mustStay(t, path, func() {
					mustFail(t, try(t, path, dirStyle, mode), protocol.CannotCreate, "path")
				})
			})
		}
	}
}

// TestReservationIsAFile: a file with the name of a reservation is not ours, and is left alone.
func TestReservationIsAFile(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		if mode == "shared" {
			return // a newcomer that shares holds back for what may be a waiter, for a lease
		}
		mustWork(t, try(t, path, k, mode))
		l := openLock(t, path, k)
		foreign := filepath.Join(filepath.Dir(path), l.reservation(labels.Ticket{Lease: lease, ID: l.NewID()}))
		mustWork(t, os.WriteFile(foreign, nil, 0o644))
		h := acquired(t, attemptAt(t, path, k, mode))
		mustWork(t, h.Tend(t.Context()))
		mustBeHeld(t, attemptAt(t, path, k, "exclusive"))
		mustRelease(t, h)
		if _, err := os.Lstat(foreign); err != nil {
			t.Error(err)
		}
	})
}

func TestParentMissing(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		dir := filepath.Dir(path)
		mustFail(t, try(t, filepath.Join(dir, "missing", "lock"), k, mode), protocol.CannotCreate, "path")
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("a try below a missing directory left behind %v, %v", left, err)
		}
	})
}

func TestParentIsFile(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		mustWork(t, os.WriteFile(path, nil, 0o644))
		mustFail(t, try(t, filepath.Join(path, "lock"), k, mode), protocol.CannotCreate, "not a directory")
	})
}

func TestNameTooLong(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		for _, length := range []int{256, 240} { // for L, and for what is called after it
			long := filepath.Join(filepath.Dir(path), strings.Repeat("x", length))
			err := try(t, long, k, mode)
			if length == 256 || k == plain {
				mustFail(t, err, protocol.CannotCreate, "path")
				nothingLeft(t, long)
			}
		}
	})
}

// TestInspectChangesNothing: neither where there is no lock yet, nor where there
// was one.
func TestInspectChangesNothing(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		for range 2 {
			mustStay(t, filepath.Dir(path), func() {
				if r := inspect(t, path, k); len(r.Holders)+len(r.Waiters) > 0 {
					t.Errorf("Read of a lock that nobody has sees %+v", r)
				}
			})
			mustWork(t, try(t, path, k, mode))
		}
	})
}

// TestOtherStyle: a process that takes the same directory for a lock in the other style is told
// so, and does not get the lock beside the holder.
func TestOtherStyle(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("here", m, plain).take(t, "exclusive")
		a := newHost("there", m, numbered).want(t, "exclusive")
		_, err := a.Try(t.Context())
		if code := backend.CodeOf(err); code != protocol.Usage || !strings.Contains(err.Error(), "plain style") {
			t.Errorf("a try in the other style returns %v, code %s; want usage, and the style", err, code)
		}
		mustWork(t, a.Withdraw(t.Context()))
		mustStillHold(t, h)
		mustRelease(t, h)
		mustBeTidy(t, m, plain)
	})
	inBubble(t, func(t *testing.T, m *memory) {
		h := newHost("here", m, numbered).take(t, "exclusive")
		_, err := newHost("there", m, plain).want(t, "exclusive").Try(t.Context())
		var held *backend.HeldError
		if !errors.As(err, &held) {
			t.Errorf("a try in the other style returns %v, want held", err)
		}
		mustStillHold(t, h)
	})
}

// TestForeignDirectory: in plain style a directory with other things in it is somebody's lock,
// and waiters are told so.
func TestForeignDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mustWork(t, os.MkdirAll(filepath.Join(path, "\x1b[2Jletters"), 0o755))
	mustStay(t, path, func() {
		a := attemptAt(t, path, plain, "exclusive")
		held := mustBeHeld(t, a)
		if !strings.Contains(held.Note, "not ours") {
			t.Errorf("a directory with other things in it is held by %+v, want a note of that", held)
		}
		mustBePrintable(t, held.String())
		for _, h := range inspect(t, path, plain).Holders {
			mustBePrintable(t, h.String())
		}
		mustWithdraw(t, a)
	})
	mustWork(t, os.RemoveAll(path), try(t, path, plain, "exclusive"))
}

// TestDirectoryVanishesUnderWaiter: a waiter whose lock directory vanishes makes a new one.
func TestDirectoryVanishesUnderWaiter(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		h := acquired(t, attemptAt(t, path, k, "exclusive"))
		a := attemptAt(t, path, k, mode)
		mustBeHeldBy(t, a, h)
		mustWork(t, a.Wait(t.Context()))
		all, _ := filepath.Glob(path + "*")
		for _, name := range all {
			mustWork(t, os.RemoveAll(name))
		}
		mustBeLost(t, h)
		mustRelease(t, acquired(t, a))
		nothingLeft(t, path)
	})
}

// TestContextEnds: a Try whose context has ended changes nothing.
func TestContextEnds(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := attemptAt(t, path, k, mode)
		if h, err := a.Try(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Try after its context has ended returns %v, %v", h, err)
		}
		mustWithdraw(t, a)
		nothingLeft(t, path)
	})
}

func TestRequestsRefused(t *testing.T) {
	l := openLock(t, "/tmp/lock", plain)
	for _, change := range []func(*backend.Request){
		func(r *backend.Request) { r.Owner.Mode = "shared" },
		func(r *backend.Request) { r.Owner.Mode = "\x1b" },
		func(r *backend.Request) { r.Owner.Lease = 1 },
		func(r *backend.Request) { r.Owner.Lease = 1 << 62 },
	} {
		r := requestFor("exclusive")
		change(&r)
		_, err := l.Attempt(r)
		if backend.CodeOf(err) != protocol.Usage {
			t.Errorf("a request that is wrong returns %v, want code usage", err)
		}
	}
}

func options(k kindOfLock) map[string]string {
	switch k {
	case plain:
		return nil
	case dirStyle:
		return map[string]string{"style": "dir", "tokens": "no"}
	}
	return map[string]string{"style": "dir"}
}

func openLock(t *testing.T, path string, k kindOfLock) *Lock {
	t.Helper()
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options(k)})
	if err != nil {
		t.Fatal(err)
	}
	return lockOf(l)
}

// lockOf is the lock itself, in either style.
func lockOf(b backend.Backend) *Lock {
	if l, ok := b.(DirStyleLock); ok {
		return l.Lock
	}
	return b.(*Lock)
}

func requestFor(mode string) backend.Request {
	r := backendtest.Request()
	r.Owner.Mode = mode
	return r
}

func attemptAt(t *testing.T, path string, k kindOfLock, mode string) *attempt {
	t.Helper()
	a, err := openLock(t, path, k).Attempt(requestFor(mode))
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

// try returns the error of one Try on the lock at a path. A hold is released, an
// attempt that failed withdrawn.
func try(t *testing.T, path string, k kindOfLock, mode string) error {
	t.Helper()
	a := attemptAt(t, path, k, mode)
	h, err := a.Try(t.Context())
	if err != nil {
		return errors.Join(err, a.Withdraw(t.Context()))
	}
	return h.Release(t.Context())
}

// acquired is mustAcquire in real time.
func acquired(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	return backendtest.MustAcquire(t, a).(*hold)
}

// eachPath runs a test with the path of a new lock of each kind and mode.
func eachPath(t *testing.T, test func(t *testing.T, path string, k kindOfLock, mode string)) {
	t.Helper()
	for _, k := range everyKind {
		for _, mode := range modes(k) {
			t.Run(name(k, " ", mode), func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "lock"), k, mode) })
		}
	}
}

func nothingLeft(t *testing.T, path string) {
	t.Helper()
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("nobody has or wants the lock any more, and there still is %q, want nothing", left)
	}
}

func inspect(t *testing.T, path string, k kindOfLock) backend.Report {
	t.Helper()
	r, err := openLock(t, path, k).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

//go:build unix

package nfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// mustRefuse makes sure that a try and an inspection are refused at an unfit place.
func mustRefuse(t *testing.T, path string, code protocol.Code, says string) {
	t.Helper()
	for _, mode := range modes() {
		mustFail(t, try(t, path, mode), code, says)
	}
	_, err := openLock(t, path).Read(t.Context())
	mustFail(t, err, code, says)
}

// TestNotADirectory: something that is no directory stands in the lock directory's place.
func TestNotADirectory(t *testing.T) {
	for _, c := range []struct {
		name, says string
		make       func(path string) error
	}{
		{"file", "not a directory", func(p string) error { return os.WriteFile(p, []byte("mine"), 0o644) }},
		{"symlink to a directory", "a symbolic link", func(p string) error { return os.Symlink(".", p) }},
		{"dangling symlink", "a symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"FIFO", "not a directory", func(p string) error { return unix.Mkfifo(p, 0o644) }},
		{"socket", "not a directory", func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o644, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			mustWork(t, c.make(path))
			mustStay(t, filepath.Dir(path), func() { mustRefuse(t, path, protocol.CannotCreate, c.says) })
		})
	}
}

func TestParentMissing(t *testing.T) {
	dir := t.TempDir()
	mustRefuse(t, filepath.Join(dir, "missing", "lock"), protocol.CannotCreate, "create the directory first")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a try below a missing directory left behind %v, %v", left, err)
	}
}

func TestParentIsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mustWork(t, os.WriteFile(file, nil, 0o644))
	mustRefuse(t, filepath.Join(file, "lock"), protocol.CannotCreate, "not a directory")
}

func TestNameTooLong(t *testing.T) {
	name := strings.Repeat("x", 256) // one byte more than file systems take
	mustRefuse(t, filepath.Join(t.TempDir(), name), protocol.CannotCreate, "correct the path")
}

// TestInspectChangesNothing: neither where there is no lock yet, nor where there
// is one.
func TestInspectChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for range 2 {
		mustStay(t, dir, func() {
			if r := inspect(t, path); len(r.Holders)+len(r.Waiters) > 0 {
				t.Errorf("Read of a lock that nobody has sees %+v", r)
			}
		})
		mustWork(t, try(t, path, "exclusive"))
	}
}

// TestEmptyDirectory: an empty directory that an administrator made is a free lock.
func TestEmptyDirectory(t *testing.T) {
	path := t.TempDir()
	if r := inspect(t, path); len(r.Holders) > 0 || r.Token != 0 {
		t.Errorf("Read of an empty directory sees %+v, want a free lock without a token", r)
	}
	mustWork(t, try(t, path, "shared"))
	mustBeTidy(t, path)
}

// TestDirectoryVanishesUnderWaiter: the lock directory vanishes, perhaps because its file system
// was unmounted, and others go on in it. The waiter makes no new one: that would start the tokens
// anew.
func TestDirectoryVanishesUnderWaiter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	a, b := attemptAt(t, path, "exclusive"), attemptAt(t, path, "exclusive")
	mustBeHeld(t, a)
	mustBeHeld(t, b)
	mustWork(t, os.RemoveAll(path))
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	_, err := backend.Acquire(ctx, a)
	mustFail(t, err, protocol.Unreachable, "has vanished")
	// And here another directory has its name, as behind a mount.
	mustWork(t, os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "R"), 0o755), os.Mkdir(filepath.Join(path, "G"), 0o755))
	_, err = backend.Acquire(ctx, b)
	mustFail(t, err, protocol.Unreachable, "has vanished")
	mustFail(t, h.Heartbeat(t.Context()), protocol.Gone, "no longer there")
}

// TestMustExist: a lock below a mount point must not be made where nothing is
// mounted.
func TestMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"create": "no"}})
	mustWork(t, err)
	a, err := l.Attempt(requestFor("exclusive"))
	mustWork(t, err)
	_, err = a.Try(t.Context())
	mustFail(t, err, protocol.CannotCreate, "it is not there")
	_, err = l.Read(t.Context())
	mustFail(t, err, protocol.CannotCreate, "it is not there")
	mustWork(t, os.Mkdir(path, 0o755))
	mustRelease(t, mustHold(t, a))
}

// TestMustBeShared: with ?fs=network no lock is taken, looked at or broken where the share is not
// mounted, neither in a directory that was made on the mount point, nor in one that would be made
// there.
func TestMustBeShared(t *testing.T) {
	dir := t.TempDir()
	made, missing, deeper := filepath.Join(dir, "made"), filepath.Join(dir, "missing"), filepath.Join(dir, "no", "such", "lock")
	mustWork(t, try(t, made, "exclusive"))
	mustStay(t, dir, func() {
		for _, path := range []string{made, missing, deeper} {
			l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"fs": "network"}})
			mustWork(t, err)
			for _, mode := range modes() {
				a, err := l.Attempt(requestFor(mode))
				mustWork(t, err)
				_, err = a.Try(t.Context())
				mustNeedMount(t, err)
				mustWork(t, a.Withdraw(t.Context()))
			}
			_, err = l.Read(t.Context())
			mustNeedMount(t, err)
			mustNeedMount(t, backendtest.BreakID(t.Context(), l, "0"))
			var unfit backend.Check
			mustWork(t, l.Examine(t.Context(), backend.Examination{}, func(c backend.Check) { unfit = c }))
			if unfit.Finding != backend.Unfit || !strings.Contains(unfit.Advice, "mount the share") {
				t.Errorf("doctor of %s with ?fs=network finds %+v, want unfit, and that the share is to be mounted", path, unfit)
			}
		}
	})
}

func mustNeedMount(t *testing.T, err error) {
	t.Helper()
	mustFail(t, err, protocol.CannotCreate, "this machine")
	var e *backend.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "mount the share") {
		t.Errorf("the hint of %v is no way out", err)
	}
}

// TestMustExistUntilTheEnd: the lock directory was there when we looked, and goes before we
// begin. It is not made.
func TestMustExistUntilTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"create": "no"}})
	mustWork(t, err)
	looked := l.(*lock).Use(time.Minute)
	looked.Check = nil
	a, err := looked.Attempt(requestFor("exclusive"))
	mustWork(t, err)
	_, err = a.Try(t.Context())
	mustFail(t, err, protocol.CannotCreate, "create the directory first")
	if _, err := os.Lstat(path); err == nil {
		t.Error("with ?create=no the lock directory was made")
	}
}

// TestSomebodysHome: a directory with other things in it does not become a lock.
func TestSomebodysHome(t *testing.T) {
	path := t.TempDir()
	mustWork(t, os.WriteFile(filepath.Join(path, "letters"), nil, 0o644), os.WriteFile(filepath.Join(path, ".profile"), nil, 0o644))
	mustStay(t, path, func() {
		mustFail(t, try(t, path, "exclusive"), protocol.CannotCreate, `such as "letters"`)
		_, err := openLock(t, path).Read(t.Context())
		mustFail(t, err, protocol.CannotCreate, `such as "letters"`)
	})
	mustWork(t, os.Remove(filepath.Join(path, "letters")), try(t, path, "exclusive"))
}

// TestMakerDiedHalfway: the maker of a lock died after it made the directories, and before it
// opened them to all that may use the lock. When its user comes again, that is put right.
func TestMakerDiedHalfway(t *testing.T) {
	for _, made := range [][]string{{"R"}, {"R", "G"}} {
		path := filepath.Join(t.TempDir(), "lock")
		mustWork(t, os.Mkdir(path, 0o755), os.Chmod(path, 0o777))
		for _, name := range made {
			mustWork(t, os.Mkdir(filepath.Join(path, name), 0o700))
		}
		mustWork(t, try(t, path, "shared"))
		for _, name := range []string{"R", "G"} {
			if st, err := os.Stat(filepath.Join(path, name)); err != nil || st.Mode().Perm() != 0o777 {
				t.Errorf("%s, whose maker died halfway, has the mode %v, %v; want 0777", name, st.Mode(), err)
			}
		}
	}
}

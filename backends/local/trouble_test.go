//go:build unix

package local

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestNotALockFile: something else is in the lock file's place.
func TestNotALockFile(t *testing.T) {
	for _, c := range []struct {
		name, says string
		make       func(path string) error
	}{
		{"directory", "a directory", func(p string) error { return os.Mkdir(p, 0o755) }},
		{"symlink", "a symbolic link", linkToFile},
		{"dangling symlink", "a symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"FIFO", "a FIFO", func(p string) error { return unix.Mkfifo(p, 0o644) }},
		{"socket", "a socket", func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o644, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) { refusesWithoutHarm(t, c.make, c.says) })
	}
}

func refusesWithoutHarm(t *testing.T, put func(string) error, says string) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := put(path); err != nil {
		t.Fatal(err)
	}
	before := entries(t, filepath.Dir(path))
	mustFail(t, unblocked(t, func() error { return try(path, nil) }), protocol.CannotCreate, says)
	mustFail(t, unblocked(t, func() error {
		_, err := openLock(t, path).Read(t.Context())
		return err
	}), protocol.CannotCreate, says)
	if after := entries(t, filepath.Dir(path)); after != before {
		t.Errorf("the directory held %s, now %s", before, after)
	}
}

// entries lists a directory's names and types, without following links.
func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := ""
	for _, e := range list {
		s += e.Type().String() + " " + e.Name() + "\n"
	}
	return s
}

func linkToFile(path string) error {
	if err := os.WriteFile(path+".target", nil, 0o644); err != nil {
		return err
	}
	return os.Symlink(path+".target", path)
}

func TestDirectoryMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "missing", "lock")
	mustFail(t, try(path, nil), protocol.CannotCreate, "create the directory first")
	_, err := openLock(t, path).Read(t.Context())
	mustFail(t, err, protocol.CannotCreate, "create the directory first")
	mustBeEmpty(t, dir)
}

func TestDirectoryIsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	mustFail(t, try(filepath.Join(file, "lock"), nil), protocol.CannotCreate, "not a directory")
}

func TestNameTooLong(t *testing.T) {
	name := strings.Repeat("x", 256) // one more than file systems take
	mustFail(t, try(filepath.Join(t.TempDir(), name), nil), protocol.CannotCreate, "correct the path")
}

func TestWorldWritableDirectory(t *testing.T) {
	path := filepath.Join(backendtest.PublicDir(t, 0o777), "lock")
	mustFail(t, try(path, nil), protocol.CannotCreate, "?dir=any")
	if err := try(path, map[string]string{"dir": "any"}); err != nil {
		t.Errorf("with ?dir=any: %v", err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := try(path, nil); err != nil {
		t.Errorf("with the sticky bit: %v", err)
	}
}

func TestDirectoryUnwritable(t *testing.T) {
	if !backendtest.AsNobody(t) {
		return
	}
	dir := backendtest.NobodysDir(t, 0o555)
	mustFail(t, try(filepath.Join(dir, "lock"), nil), protocol.Permission, "allow this user")
	mustBeEmpty(t, dir)
}

func TestUnreadableLockFile(t *testing.T) {
	if !backendtest.AsNobody(t) {
		return
	}
	path := filepath.Join(backendtest.NobodysDir(t, 0o755), "lock")
	if err := os.WriteFile(path, []byte("1\n"), 0); err != nil {
		t.Fatal(err)
	}
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	for range 3 {
		if h := mustBeHeld(t, a); h.Note != "the lock file is not readable" || h.Age != 0 {
			t.Errorf("holder: %+v", h)
		}
		c.advance(24 * time.Hour)
	}
	_, err := openLock(t, path).Read(t.Context())
	mustFail(t, err, protocol.Permission, "open lock file")
	// The file cannot be watched either; removing it must free the lock all the same.
	waiter := attemptAt(t, path, backend.Request{Owner: r.Owner, Clock: clock.Boot{}})
	mustBeHeld(t, waiter)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := unblocked(t, func() error { return waiter.Wait(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, mustHold(t, waiter))
}

// digits is the pid in binary of no process, of bytes that are digits.
func digits(t *testing.T) string {
	for pid := 0x3130; pid <= 0x3139; pid++ {
		if (process.Process{PID: pid}).Gone() {
			return string(binary.NativeEndian.AppendUint32(nil, uint32(pid)))
		}
	}
	t.Fatal("each pid of digits is that of a process")
	return ""
}

// TestBinaryPID: with ?pid=binary we read the pid of a program that keeps it in binary, and it reads
// ours. Without the option its file is refused.
func TestBinaryPID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	dead := binary.NativeEndian.AppendUint32(nil, uint32(backendtest.DeadProcess(t).PID))
	backendtest.MustWork(t, os.WriteFile(path, dead, 0o644))
	mustFail(t, try(path, nil), protocol.CannotCreate, "in binary")
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: map[string]string{"pid": "binary"}})
	backendtest.MustWork(t, err)
	for _, pid := range []string{string(dead), digits(t)} {
		backendtest.MustWork(t, os.WriteFile(path, []byte(pid), 0o644))
		a, err := l.Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		mustRelease(t, mustAcquire(t, a))
	}
	a, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := mustAcquire(t, a)
	text, err := os.ReadFile(path)
	backendtest.MustWork(t, err)
	if pid, want := binary.NativeEndian.Uint32(text), backendtest.Request().Owner.Helper.PID; int(pid) != want {
		t.Errorf("the file begins with the pid %d, want %d", pid, want)
	}
	mustFail(t, try(path, nil), protocol.CannotCreate, "in binary")
	mustRelease(t, h)
}

//go:build unix

package link

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestStrangeLock: a strange thing in the lock's place is held by somebody unknown. It is neither
// followed, waited for nor removed; but a file is removed that was old and silent for long
// enough.
func TestStrangeLock(t *testing.T) {
	huge := strings.Repeat("x", 10<<20)
	for _, c := range []struct {
		name, says string
		make       func(path string) error
	}{
		{"pid of another host", `it holds "4242 web3"`, func(p string) error { return os.WriteFile(p, []byte("4242 web3\n"), 0o644) }},
		{"pid of nobody knows where", "", func(p string) error { return os.WriteFile(p, []byte("4194303\n"), 0o644) }},
		{"half a record", `it holds "4242"`, func(p string) error { return os.WriteFile(p, []byte("4242\nLOCK v=1 id="), 0o644) }},
		{"symbolic link", "a symbolic link", func(p string) error { return os.Symlink("/etc/passwd", p) }},
		{"dangling link", "a symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"FIFO", "a FIFO", func(p string) error { return unix.Mkfifo(p, 0o644) }},
		{"socket", "a socket", func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o644, 0) }},
		{"directory", "a directory", func(p string) error { return os.Mkdir(p, 0o755) }},
		{"huge", "too long", func(p string) error { return os.WriteFile(p, []byte(huge), 0o644) }},
		{"empty", "it is empty", func(p string) error { return os.WriteFile(p, nil, 0o644) }},
		{"garbage", "another tool", func(p string) error { return os.WriteFile(p, []byte("\x1b[2Jx\n1\n2"), 0o644) }},
		{"other record", "another tool", func(p string) error { return os.WriteFile(p, []byte("7\nLOCK v=9 id=../../x\n"), 0o644) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "lock")
			mustWork(t, c.make(path))
			a := attemptAt(t, path, backendtest.Request())
			held := mustBeHeld(t, a)
			if !strings.Contains(held.Holder.Note, c.says) || held.Holder.Verdict != owner.Unknown || strings.Contains(held.Error(), "\x1b") {
				t.Errorf("a strange lock seems to be held by %+v", held.Holder)
			}
			r, err := openLock(t, path).Read(t.Context())
			mustWork(t, err)
			if len(r.Holders) != 1 {
				t.Errorf("Read of a strange lock sees %+v, want one holder", r)
			}
			mustWithdraw(t, a)
			if left := listed(t, dir); len(left) != 1 {
				t.Errorf("beside a strange lock there is %q", left)
			}
			mustBreakFileByAge(t, path)
		})
	}
}

// mustBreakFileByAge makes sure that an old file is broken when it was watched for long enough,
// and that anything but a file never is.
func mustBreakFileByAge(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	mustWork(t, err)
	long := []unix.Timespec{unix.NsecToTimespec(0), unix.NsecToTimespec(0)}
	mustWork(t, unix.UtimesNanoAt(unix.AT_FDCWD, path, long, unix.AT_SYMLINK_NOFOLLOW))
	r, c := backendtest.Request(), &handClock{now: time.Hour}
	r.Clock, r.Grace = c, time.Second
	a := attemptAt(t, path, r)
	mustBeHeld(t, a)
	c.now += minWatch - time.Second
	mustBeHeld(t, a)
	c.now += time.Second
	if !info.Mode().IsRegular() {
		mustBeHeld(t, a)
		mustWithdraw(t, a)
		return
	}
	mustRelease(t, mustHold(t, a))
	mustBeEmpty(t, filepath.Dir(path))
}

// TestStrangeIDs: a strange id in a record does not become part of a path.
func TestStrangeIDs(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID = "../../../etc/x"
	text, err := lockfile.Format(r)
	mustWork(t, err)
	if c := parse(text); c.Record != nil {
		t.Errorf("a record with a strange id is believed: %+v", c)
	}
}

// TestPlanted: files that are not what their names say, or are young, are left alone.
func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	id, dead := owner.NewID(), deadRequest(t).Owner
	dead.ID = owner.NewID()
	text, err := lockfile.Format(dead)
	mustWork(t, err)
	at := func(suffix string) string { return path + suffix }
	mustWork(t,
		os.Mkdir(at(".claim."+id), 0o755),
		os.Symlink("/etc/passwd", at(".brk."+id+".1")),
		unix.Mkfifo(at(".brk."+id+".2"), 0o644),
		os.WriteFile(at(".claim."+owner.NewID()), []byte(text), 0o644), // somebody else's record
		os.WriteFile(at(".claim.x"), nil, 0o644),
		os.WriteFile(at(".brk.x.1"), []byte(text), 0o644),
		os.WriteFile(at(".brk."+id+".01"), []byte(text), 0o644),
		os.WriteFile(at(".brk."+id+".65"), []byte(text), 0o644),
		os.WriteFile(at("er.claim."+dead.ID), []byte(text), 0o644), // of another lock
		os.WriteFile(filepath.Join(dir, "letter"), nil, 0o644))
	before := listed(t, dir)
	old := time.Now().Add(-100 * time.Hour)
	for _, name := range []string{"letter", "lock.claim.x", "lock.brk.x.1"} {
		mustWork(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	mustWork(t, try(path, nil))
	if after := listed(t, dir); !slices.Equal(before, after) {
		t.Errorf("planted files were changed: there was %q, now %q", before, after)
	}
}

// TestSweep: a sweep removes what the dead left, and what is old by the server's clock.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	write := func(r backend.Request, name func(id string) string, age time.Duration) {
		r.Owner.ID = owner.NewID()
		text, err := lockfile.Format(r.Owner)
		mustWork(t, err)
		made := time.Now().Add(-age)
		at := path + name(r.Owner.ID)
		mustWork(t, os.WriteFile(at, []byte(text), 0o644), os.Chtimes(at, made, made))
	}
	claim := func(id string) string { return ".claim." + id }
	entry := func(string) string { return ".brk." + owner.NewID() + ".1" }
	for _, name := range []func(string) string{claim, entry} {
		write(deadRequest(t), name, 0)
		write(elsewhere(time.Minute), name, 61*time.Minute)
		write(elsewhere(time.Hour), name, 121*time.Minute)
	}
	gone := len(listed(t, dir))
	for _, name := range []func(string) string{claim, entry} {
		write(backendtest.Request(), name, 0)
		write(elsewhere(time.Minute), name, 59*time.Minute)
		write(elsewhere(time.Hour), name, 119*time.Minute)
	}
	kept := listed(t, dir)
	mustWork(t, try(path, nil))
	if after := listed(t, dir); len(after) != len(kept)-gone {
		t.Errorf("of %d there are %d, want %d", len(kept), len(after), len(kept)-gone)
	}
}

// TestTend: a holder removes what the dead left, while it has the lock.
func TestTend(t *testing.T) {
	s := newServer()
	h := mustHold(t, attemptOn(t, lockOn(s), backendtest.Request()))
	mustBeHeld(t, attemptOn(t, lockOn(s), deadRequest(t)))
	leaveChain(t, s, deadRequest(t), owner.NewID(), 1)
	mustWork(t, h.Tend(t.Context()), h.Heartbeat(t.Context()))
	mustRelease(t, h)
	mustBeClean(t, s)
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	longest := strings.Repeat("x", maxName-longestMark)
	mustWork(t, try(filepath.Join(dir, longest), nil))
	mustFail(t, try(filepath.Join(dir, longest+"x"), nil), protocol.Usage, "choose a shorter one")
	mustBeEmpty(t, dir)
	l := &Lock{Name: longest}
	worst := foreignID(lockfile.Stat{Dev: 1<<64 - 1, Ino: 1<<64 - 1, Modified: time.Unix(0, -1)})
	name := l.entryName(worst, maxEntries)
	if len(name) != maxName {
		t.Errorf("the longest name has %d bytes", len(name))
	}
	if dead, n, ok := l.parseEntry(name); !ok || n != maxEntries || dead != worst {
		t.Errorf("the longest name is read as %q, %d, %v", dead, n, ok)
	}
}

func TestPlace(t *testing.T) {
	dir := publicDir(t, 0o777)
	path := filepath.Join(dir, "lock")
	mustFail(t, try(path, nil), protocol.CannotCreate, "world-writable")
	mustWork(t, try(path, map[string]string{"dir": "any"}), os.Chmod(dir, 0o777|os.ModeSticky), try(path, nil))
	file := filepath.Join(dir, "file")
	mustWork(t, os.WriteFile(file, nil, 0o644))
	for parent, says := range map[string]string{filepath.Join(dir, "none"): "create the directory first", file: "not a directory"} {
		mustFail(t, try(filepath.Join(parent, "lock"), nil), protocol.CannotCreate, says)
		_, err := openLock(t, filepath.Join(parent, "lock")).Read(t.Context())
		mustFail(t, err, protocol.CannotCreate, says)
	}
	mustWork(t, os.Remove(file))
	mustBeEmpty(t, dir)
}

func TestRefuses(t *testing.T) {
	for option, value := range map[string]string{"touch": "then", "pids": "all", "style": "dir"} {
		_, err := Open(backend.Address{Scheme: Scheme, Path: "/x/y", Options: map[string]string{option: value}})
		mustFail(t, err, protocol.Usage, option)
	}
	l := openLock(t, filepath.Join(t.TempDir(), "lock"))
	_, err := l.Attempt(backendtest.SharedRequest())
	mustFail(t, err, protocol.Usage, "leave out --shared")
	r := backendtest.Request()
	r.Owner.Lease = time.Millisecond
	_, err = l.Attempt(r)
	mustFail(t, err, protocol.Usage, "lease")
	r = backendtest.Request()
	r.Owner.Meta = []protocol.Field{{Key: "x", Value: strings.Repeat("x", 5000)}}
	mustFail(t, func() error {
		a, err := l.Attempt(r)
		mustWork(t, err)
		_, err = a.Try(t.Context())
		return err
	}(), protocol.Usage, "shorten the metadata")
}

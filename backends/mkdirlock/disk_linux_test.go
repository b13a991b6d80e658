package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/disk"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func eachMode(t *testing.T, test func(t *testing.T, k kindOfLock, mode string)) {
	t.Helper()
	for _, k := range everyKind {
		for _, mode := range modes(k) {
			t.Run(name(k, " ", mode), func(t *testing.T) { test(t, k, mode) })
		}
	}
}

// TestOutOfInodes: there is room for some of what a lock needs, but not for all.
func TestOutOfInodes(t *testing.T) {
	eachMode(t, func(t *testing.T, k kindOfLock, mode string) {
		path := filepath.Join(backendtest.Memory(t, "nr_inodes=60"), "lock")
		for spare := 0; withSpareInodes(t, path, k, mode, spare) != nil; spare++ {
			if spare > 20 {
				t.Fatal("no number of inodes is enough")
			}
		}
	})
}

// withSpareInodes tries to take the lock while only so many inodes are left, and returns the
// error. It makes sure that this is a good error.
func withSpareInodes(t *testing.T, path string, k kindOfLock, mode string, spare int) error {
	t.Helper()
	filler := filepath.Join(filepath.Dir(path), "filler")
	backendtest.UseUpInodes(t, filler, spare)
	err := try(t, path, k, mode)
	mustWork(t, os.RemoveAll(filler))
	if err != nil {
		mustFail(t, err, protocol.CannotCreate, "free some space")
		if k == plain {
			nothingLeft(t, path)
		}
		if err := try(t, path, k, mode); err != nil {
			t.Errorf("a try failed because only %d inodes were free, and with room again the lock does not work; that try must withdraw all it made (withdraw, removeLock): %v", spare, err)
		}
		nothingLeft(t, path)
		mustWork(t, os.RemoveAll(path))
	}
	return err
}

// TestDiskFullUnderHolder: heartbeats and release need no room.
func TestDiskFullUnderHolder(t *testing.T) {
	eachMode(t, func(t *testing.T, k kindOfLock, mode string) {
		dir := backendtest.Memory(t, "nr_inodes=60")
		path := filepath.Join(dir, "lock")
		h := acquired(t, attemptAt(t, path, k, mode))
		backendtest.UseUpInodes(t, filepath.Join(dir, "filler"), 0)
		mustStillHold(t, h)
		mustWork(t, h.Tend(t.Context()))
		mustRelease(t, h)
		nothingLeft(t, path)
	})
}

func TestReadOnly(t *testing.T) {
	eachMode(t, func(t *testing.T, k kindOfLock, mode string) {
		dir := backendtest.Memory(t)
		path, fresh := filepath.Join(dir, "lock"), filepath.Join(dir, "fresh")
		h := acquired(t, attemptAt(t, path, k, mode))
		backendtest.Remount(t, dir, unix.MS_RDONLY)
		mustFail(t, try(t, fresh, k, mode), protocol.CannotCreate, "read-only")
		if err := h.Heartbeat(t.Context()); !errors.Is(err, unix.EROFS) || errors.Is(err, backend.ErrGone) {
			t.Errorf("the heartbeat on a read-only disk: %v, want EROFS, and no loss", err)
		}
		if err := h.Release(t.Context()); !errors.Is(err, unix.EROFS) {
			t.Errorf("the release on a read-only disk: %v, want EROFS", err)
		}
		if r := inspect(t, path, k); len(r.Holders) != 1 {
			t.Errorf("Read on a read-only disk sees %+v, want one holder", r)
		}
		backendtest.Remount(t, dir, 0)
		mustStillHold(t, h)
		mustRelease(t, h)
		nothingLeft(t, path)
	})
}

// TestLongMetadataOnDisk: each part of a record is a directory of its own.
func TestLongMetadataOnDisk(t *testing.T) {
	eachMode(t, func(t *testing.T, k kindOfLock, mode string) {
		path := filepath.Join(backendtest.Memory(t), "lock")
		r := requestFor(mode)
		r.Owner.Meta = []protocol.Field{{Key: "note", Value: strings.Repeat("the quick brown fox & 1234567890 ", 60)}}
		a, err := openLock(t, path, k).Attempt(r)
		mustWork(t, err)
		h := acquired(t, a)
		held := mustBeHeld(t, attemptAt(t, path, k, "exclusive"))
		if held.Record == nil || held.Record.Meta[0] != r.Owner.Meta[0] {
			t.Errorf("the lock is held by %+v, want a record with the long metadata", held)
		}
		mustStillHold(t, h)
		mustRelease(t, h)
	})
}

// TestAppendOnlyDirectory: where nothing can be removed or renamed, a try fails and leaves one
// directory.
func TestAppendOnlyDirectory(t *testing.T) {
	needRoot(t)
	eachMode(t, func(t *testing.T, k kindOfLock, mode string) {
		dir := t.TempDir()
		path := filepath.Join(dir, "lock")
		if k != plain {
			mustWork(t, os.Mkdir(path, 0o755))
			dir = path
		}
		appendOnly(t, dir)
		err := try(t, path, k, mode)
		left, _ := os.ReadDir(dir)
		mustFail(t, err, protocol.CannotCreate, "locksmith doctor")
		if len(left) != 1 || !strings.Contains(fmt.Sprint(err), left[0].Name()) {
			t.Errorf("a try in an append-only directory left %q, and told %v; want one name, which the error has", left, err)
		}
	})
}

// TestExamineAppendOnly: a place in which what is made has to stay is unfit, even if all can be
// removed in a directory made there. A lock in dir style is such a directory.
func TestExamineAppendOnly(t *testing.T) {
	needRoot(t)
	for _, c := range []struct {
		kind  kindOfLock
		there bool // the lock is append-only, not the directory that it is in
		want  backend.Finding
		says  string
		left  int
	}{
		{plain, false, backend.Unfit, "/locks/lock; or add ?style=dir", 1},
		{dirStyle, false, backend.Weak, "doctor.", 2},
		{dirStyle, true, backend.Unfit, "another lock", 1},
	} {
		t.Run(name(c.kind, " ", c.there), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "lock")
			if c.there {
				mustWork(t, os.Mkdir(path, 0o755))
				dir = path
			}
			appendOnly(t, dir)
			examine := func() (all []backend.Check) {
				l := openLock(t, path, c.kind)
				mustWork(t, l.Examine(t.Context(), backend.Examination{}, func(k backend.Check) { all = append(all, k) }))
				return all
			}
			all := examine()
			if backend.Verdict(all) != c.want || !slices.ContainsFunc(all, func(k backend.Check) bool {
				return k.Finding == c.want && strings.Contains(k.Text+k.Advice, c.says)
			}) {
				t.Errorf("doctor of an append-only directory finds %+v", all)
			}
			if left, _ := os.ReadDir(dir); len(left) != c.left {
				t.Errorf("doctor of an append-only directory leaves %q", left)
			}
			if c.want == backend.Weak {
				if all := examine(); backend.Verdict(all) == backend.Unfit || slices.ContainsFunc(all, func(k backend.Check) bool { return k.Name == "clean up" }) {
					t.Errorf("of a lock that is there: %+v", all)
				}
			}
		})
	}
}

// appendOnly lets nothing in a directory be removed or renamed until the test ends
// (chattr +a).
func appendOnly(t *testing.T, dir string) {
	t.Helper()
	set := func(change string) error { return exec.Command("chattr", change, dir).Run() }
	if err := set("+a"); err != nil {
		lab.Lacking(t, "this file system knows no append-only directories: "+err.Error())
	}
	t.Cleanup(func() { mustWork(t, set("-a")) })
}

func aDisk(t *testing.T) *disk.Directory {
	t.Helper()
	d := &disk.Directory{Path: t.TempDir(), Private: func() bool { return true }}
	t.Cleanup(d.Close)
	return d
}

// left makes, marks and renames a directory as a locksmith does. It returns the pin, which is
// still there.
func left(t *testing.T, d *disk.Directory, name string) io.Closer {
	t.Helper()
	mustWork(t, d.Mkdir(t.Context(), "reservation"))
	pin, err := d.Stake(t.Context(), "reservation")
	mustWork(t, err)
	mustWork(t, d.RenameNew(t.Context(), "reservation", name))
	return pin
}

// TestClear: only a directory that is marked, empty and not pinned is removed.
func TestClear(t *testing.T) {
	for about, prepare := range map[string]func(*testing.T, *disk.Directory) (want bool){
		"left by one of us": func(t *testing.T, d *disk.Directory) bool {
			mustWork(t, left(t, d, "L").Close())
			return true
		},
		"of one who lives": func(t *testing.T, d *disk.Directory) bool {
			pin := left(t, d, "L")
			t.Cleanup(func() { _ = pin.Close() })
			return false
		},
		"of one who breaks": func(t *testing.T, d *disk.Directory) bool {
			first := left(t, d, "L")
			pin, err := d.Pin(t.Context(), "L")
			mustWork(t, err)
			mustWork(t, first.Close())
			t.Cleanup(func() { _ = pin.Close() })
			return false
		},
		"of a script": func(t *testing.T, d *disk.Directory) bool {
			mustWork(t, d.Mkdir(t.Context(), "L"))
			return false
		},
		"of a script that somebody has pinned": func(t *testing.T, d *disk.Directory) bool {
			mustWork(t, d.Mkdir(t.Context(), "L"))
			pin, err := d.Pin(t.Context(), "L")
			mustWork(t, err)
			mustWork(t, pin.Close())
			return false
		},
		"with an entry": func(t *testing.T, d *disk.Directory) bool {
			mustWork(t, left(t, d, "L").Close())
			mustWork(t, d.Mkdir(t.Context(), "L/x"))
			return false
		},
		"missing": func(*testing.T, *disk.Directory) bool { return false },
	} {
		t.Run(name(about), func(t *testing.T) {
			d := aDisk(t)
			want := prepare(t, d)
			before, _ := os.Lstat(d.Root("L"))
			err := d.RemoveAbandoned(t.Context(), "L")
			if after, _ := os.Lstat(d.Root("L")); (err == nil) != want || (after == nil) != (want || before == nil) {
				t.Errorf("removed: %v, want %v; there is %v", err, want, after)
			}
			if err != nil && !dirs.Refused(err) {
				t.Error(err)
			}
			if marked := strings.HasPrefix(about, "of one who") || about == "with an entry"; errors.Is(err, dirs.ErrTended) != marked {
				t.Errorf("%v, though it is marked: %v", err, marked)
			}
		})
	}
}

// TestLeftEmpty: an empty lock that a dead locksmith left is in nobody's way; an empty lock of a
// script is.
func TestLeftEmpty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	d := &disk.Directory{Path: dir, Private: func() bool { return true }}
	pin := left(t, d, "lock")
	waiter := attemptAt(t, path, plain, "exclusive")
	mustBeHeld(t, waiter)
	mustWork(t, pin.Close())
	mustRelease(t, mustHold(t, waiter))
	mustWork(t, os.Mkdir(path, 0o777))
	mustBeHeld(t, attemptAt(t, path, plain, "exclusive"))
}

// TestReapKeepsItsPin: the reaper removes a dead holder's entry. Before it removes the emptied lock
// a locker must not take that for abandoned, or a script could make the lock, and the reaper would
// remove that one.
func TestReapKeepsItsPin(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	acquired(t, attemptAt(t, path, plain, "exclusive")).claim.unpin() // as if its process had ended
	d := &disk.Directory{Path: filepath.Dir(dir), Private: func() bool { return true }}
	ofScript := false
	place := placeOf(betweenReaps{d, func(name string) {
		if filepath.Join(d.Path, name) != path {
			return
		}
		if ofScript = d.RemoveAbandoned(t.Context(), name) == nil; ofScript {
			mustWork(t, os.Mkdir(path, 0o777))
		}
	}})
	place.Name = filepath.Base(dir)
	place.Judge = func(owner.Record) owner.Verdict { return owner.Dead }
	all, err := place.Reap(t.Context(), backend.Reaping{Remove: true})
	mustWork(t, err)
	if _, err := os.Lstat(path); len(all) != 1 || !all[0].Removed || ofScript || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a dead holder reap says %+v; there is %v; a script made the lock anew before the reaper removed it: %v", all, err, ofScript)
	}
}

// betweenReaps calls a function before each removal.
type betweenReaps struct {
	*disk.Directory
	before func(name string)
}

func (b betweenReaps) Rmdir(ctx context.Context, name string) error {
	b.before(name)
	return b.Directory.Rmdir(ctx, name)
}

// TestStickyRootless: in a sticky directory root of a container without other users can remove no
// more than any user. It does not empty what it cannot remove.
func TestStickyRootless(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o777|os.ModeSticky), "lock")
	alice := as(t, 1001, 0o022, path, plain, "exclusive", "1")
	alice.Expect("OK")
	alice.Kill()
	before := leftovers(t, path)
	carol := backendtest.AsRootless(t, 1003, 0o022, wish(path, plain, "exclusive", "0"))
	if says := carol.Expect("ERR " + string(protocol.Held)); !strings.Contains(says, backend.StickyNote) {
		t.Error(says)
	}
	if after := leftovers(t, path); !slices.Equal(before, after) {
		t.Errorf("there was %q of a dead holder, and there is %q after a try of root of a container", before, after)
	}
}

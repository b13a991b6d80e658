//go:build unix

package mkdirlock

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// hostileNames are names that no locksmith makes.
func hostileNames() []string {
	id := owner.NewID()
	return []string{
		"notes.txt", "\x1b[2Jx", "a\nb", "\xff\xfe", "...", strings.Repeat("y", 255), "x.", "x.1", "x.60000-" + strings.ToUpper(id), "s.1-" + id,
		"x.060000-" + id, "x.99999999999999999999-" + id, "y.60000-" + id, "r.", "r.60000-" + id[1:], "fence.", "fence.0", "fence.01", "fence.-1",
		"fence.99999999999999999999999", "fence.1152921504606846977", ".nfs0000000000000001", "m.1.x", "0.1.x",
	}
}

// clutter puts things with hostile names, behind a prefix, into a directory.
func clutter(t *testing.T, dir, prefix string) []string {
	t.Helper()
	var names []string
	for _, name := range hostileNames() {
		if name = prefix + name; len(name) <= 255 {
			names = append(names, name)
		}
	}
	return backendtest.Clutter(t, dir, names)
}

// TestForeignEntries: what others put around the lock is ignored and left alone.
func TestForeignEntries(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		mustWork(t, try(t, path, k, mode))
		put := clutter(t, filepath.Dir(path), "lock.")
		put = append(put, clutter(t, filepath.Dir(path), "lock.r.")...)
		if k.style == DirStyle {
			put = append(put, clutter(t, path, "")...)
		}
		h := acquired(t, attemptAt(t, path, k, mode))
		a := attemptAt(t, path, k, "exclusive")
		mustBeHeldBy(t, a, h)
		mustWork(t, h.Tend(t.Context()))
		if r := inspect(t, path, k); len(r.Holders) != 1 || len(r.Waiters) != 1 || r.Token != h.Token() {
			t.Errorf("Read sees %+v, want one holder, one waiter and the holder's token", r)
		}
		mustWithdraw(t, a)
		mustRelease(t, h)
		backendtest.MustBeThere(t, put)
	})
}

// TestForeignInLock: something of others beside a holder's entry does not disturb the holder, and
// is told of after the release.
func TestForeignInLock(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		h := acquired(t, attemptAt(t, path, k, mode))
		put := clutter(t, filepath.Join(filepath.Dir(path), h.lock.lock()), "")
		mustStillHold(t, h)
		mustBeHeldBy(t, attemptAt(t, path, k, "exclusive"), h)
		if err := h.Release(t.Context()); err != nil || k == plain {
			mustFail(t, err, protocol.CannotCreate, "not ours")
			mustBePrintable(t, err.Error())
		}
		held := mustBeHeld(t, attemptAt(t, path, k, "exclusive"))
		if !strings.Contains(held.Note, "not ours") {
			t.Errorf("the lock is held by %+v, want a note of what is not ours", held)
		}
		mustBePrintable(t, held.String())
		backendtest.MustBeThere(t, put)
	})
}

// TestForeignInEntry: with something of others in the entry, the holder is known all the same.
// The lock can be broken and released, unless what is there is not a directory.
func TestForeignInEntry(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		h := acquired(t, attemptAt(t, path, k, mode))
		dir := filepath.Join(filepath.Dir(path), h.claim.path())
		mustWork(t, os.Mkdir(filepath.Join(dir, "\x1b[2J"), 0o755), os.Mkdir(filepath.Join(dir, "m.9.x"), 0o755))
		mustBeHeldBy(t, attemptAt(t, path, k, "exclusive"), h)
		foreign := filepath.Join(dir, "notes")
		mustWork(t, os.WriteFile(foreign, nil, 0o644))
		mustStillHold(t, h)
		err := h.Release(t.Context())
		mustFail(t, err, protocol.CannotCreate, "not a directory")
		mustBePrintable(t, err.Error())
		mustBeHeld(t, attemptAt(t, path, k, "exclusive"))
		mustWork(t, os.Remove(foreign))
		mustRelease(t, h)
	})
}

// TestHostileRecords: a record that is not the holder's own does not make the holder look dead.
func TestHostileRecords(t *testing.T) {
	eachPath(t, func(t *testing.T, path string, k kindOfLock, mode string) {
		h := acquired(t, attemptAt(t, path, k, mode))
		dir := filepath.Join(filepath.Dir(path), h.claim.path())
		bomb := "99.1." + base64.RawURLEncoding.EncodeToString(labels.Compress(strings.Repeat(" timens=time:[4026531834]", 150)))
		for _, beat := range []string{"99.1.AAAA", "99.32.x", "99.1.", "99.1.\x1b[2J", bomb} {
			mustWork(t, os.Rename(filepath.Join(dir, h.claim.beats[0]), filepath.Join(dir, beat)))
			a := attemptAt(t, path, k, "exclusive")
			held := mustBeHeld(t, a)
			if held.Verdict == owner.Dead || held.Record != nil || held.Note == "" {
				t.Errorf("with the heartbeat %q the lock is held by %+v; want a note, no record, and not dead", beat, held)
			}
			mustBePrintable(t, held.String())
			mustWithdraw(t, a)
			mustWork(t, os.Rename(filepath.Join(dir, beat), filepath.Join(dir, h.claim.beats[0])))
		}
		mustStillHold(t, h)
		mustRelease(t, h)
		nothingLeft(t, path)
	})
}

// TestManyEntries: of ten thousand entries in L one is a holder's.
func TestManyEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := acquired(t, attemptAt(t, path, plain, "exclusive"))
	for i := range 10000 {
		mustWork(t, os.Mkdir(filepath.Join(path, fmt.Sprint("y.", i)), 0o755))
	}
	start := time.Now()
	a := attemptAt(t, path, plain, "exclusive")
	mustBeHeldBy(t, a, h)
	mustStillHold(t, h)
	mustWithdraw(t, a)
	if d := time.Since(start); d > time.Minute {
		t.Errorf("to find one holder among ten thousand entries took %v", d)
	}
}

// TestUnreadable: a lock that another user may not look into is held.
func TestUnreadable(t *testing.T) {
	needRoot(t)
	dir := publicDir(t, 0o777)
	path := filepath.Join(dir, "lock")
	h := acquired(t, attemptAt(t, path, plain, "exclusive"))
	mustWork(t, os.Chmod(path, 0o700))
	u := as(t, 1001, 0o022, path, plain, "exclusive", "0")
	u.Expect("ERR " + string(protocol.Permission))
	mustWork(t, os.Chmod(path, 0o755), os.Chmod(filepath.Join(dir, h.claim.path()), 0o700))
	u = as(t, 1001, 0o022, path, plain, "exclusive", "0")
	if says := u.Expect("ERR " + string(protocol.Held)); !strings.Contains(says, "cannot be looked at") {
		t.Error(says)
	}
	mustStillHold(t, h)
	mustRelease(t, h)
	nothingLeft(t, path)
}

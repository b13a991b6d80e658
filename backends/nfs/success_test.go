//go:build unix

package nfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/shelf"
)

// TestSuccessByTheServersClock: the age of a success is the difference of two of the server's
// times. A success that is left of a holder that came too late, or of a lock that was removed,
// does not count, and goes with the next success.
func TestSuccessByTheServersClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(shelf.Keeper)
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	mustWork(t, shelf.Record(t.Context(), l, h))
	mustRelease(t, h)
	h = mustHold(t, attemptAt(t, path, "exclusive"))
	defer mustRelease(t, h)
	ours := filepath.Join(path, "R", "d.1-")
	for _, ago := range []time.Duration{time.Hour, -time.Hour} {
		all, _ := filepath.Glob(ours + "*")
		then := unix.NsecToTimespec(time.Now().Add(-ago).UnixNano())
		mustWork(t, unix.UtimesNanoAt(unix.AT_FDCWD, all[0], []unix.Timespec{then, then}, unix.AT_SYMLINK_NOFOLLOW))
		if last, err := shelf.Last(t.Context(), l, h); err != nil || last == nil || (last.Ago-ago).Abs() > time.Minute {
			t.Errorf("the last success is told as %v, %v; want %v ago", last, err, ago)
		}
	}
	strange := filepath.Join(path, "R", "d.99-"+strings.Repeat("0a", 16))
	mustWork(t, os.Symlink("x", strange), os.Symlink("x", filepath.Join(path, "R", "d.0-"+strings.Repeat("0b", 16))))
	if last, err := shelf.Last(t.Context(), l, h); err != nil || last == nil || last.Ago > 0 {
		t.Errorf("a success right now is told as %v, %v", last, err)
	}
	mustWork(t, shelf.Record(t.Context(), l, h))
	left, _ := filepath.Glob(filepath.Join(path, "R", "d.*"))
	if len(left) != 1 || !strings.HasSuffix(left[0], "/d.2-"+h.ID()) {
		t.Errorf("the successes that stay are %q, want the last holder's", left)
	}
}

// TestSuccessOfASuccessor: a holder that was stopped while it recorded its success leaves a later
// holder's success alone.
func TestSuccessOfASuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(shelf.Keeper)
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	later := filepath.Join(path, "R", "d.2-"+strings.Repeat("0a", 16))
	mustWork(t, os.Symlink("../R/x", filepath.Join(path, "G", "lock.2")), os.Symlink("x", later))
	mustWork(t, shelf.Record(t.Context(), l, h))
	if _, err := os.Lstat(later); err != nil {
		t.Error(err)
	}
}

// TestSuccessBesideWhatStays: to record a success does not fail because an older one cannot be
// removed.
func TestSuccessBesideWhatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(shelf.Keeper)
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	mustWork(t, os.Mkdir(filepath.Join(path, "R", "d.1-"+strings.Repeat("0a", 16)), 0o700))
	mustWork(t, shelf.Record(t.Context(), l, h))
	if _, err := os.Lstat(filepath.Join(path, "R", "d.1-"+h.ID())); err != nil {
		t.Error(err)
	}
}

// TestOtherKeepers: a success, and a record, that another user keeps are told as that user's.
func TestOtherKeepers(t *testing.T) {
	needRoot(t)
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(shelf.Keeper)
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	defer mustRelease(t, h)
	mustWork(t, shelf.Record(t.Context(), l, h))
	all, err := filepath.Glob(filepath.Join(path, "R", "*"))
	mustWork(t, err)
	for _, name := range all {
		mustWork(t, os.Lchown(name, 64011, 64011))
	}
	if last, err := shelf.Last(t.Context(), l, h); err != nil || last == nil || last.By != "64011" {
		t.Errorf("the last success is told as %+v, %v", last, err)
	}
	r, err := openLock(t, path).Read(t.Context())
	if err != nil || len(r.Holders) != 1 || !strings.Contains(r.Holders[0].String(), "in a file of 64011") {
		t.Errorf("the report is %v, %v", r, err)
	}
}

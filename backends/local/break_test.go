package local

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestBreakComesTooLate: 1. An operator sees a dead holder. 2. Somebody else breaks its lock and
// takes it. 3. The operator breaks the holder that it saw.
func TestBreakComesTooLate(t *testing.T) {
	path := t.TempDir() + "/lock"
	l := openLock(t, path).(*Lock)
	r := backendtest.Request()
	r.Owner.Helper = backendtest.DeadProcess(t)
	dead := mustHold(t, attemptAt(t, path, r))
	dead.(*hold).file.Close()
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	mustFail(t, backendtest.BreakID(t.Context(), l, dead.ID()), protocol.Gone, "no longer there")
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	// The kernel lock of the living holder protects it.
	err := backendtest.BreakID(t.Context(), l, h.ID())
	mustFail(t, err, protocol.Held, "pid "+strconv.Itoa(os.Getpid()))
	if !errors.Is(err, backend.ErrLives) {
		t.Error(err)
	}
	mustRelease(t, h)
	mustFail(t, backendtest.BreakID(t.Context(), l, h.ID()), protocol.Gone, "locksmith status")
}

// TestBreakWhileOpen: 1. An operator opens a dead holder's file. 2. Somebody else breaks that
// lock and takes it. 3. The operator goes on.
func TestBreakWhileOpen(t *testing.T) {
	path := t.TempDir() + "/lock"
	r := backendtest.Request()
	r.Owner.Helper = backendtest.DeadProcess(t)
	dead := mustHold(t, attemptAt(t, path, r))
	dead.(*hold).file.Close()
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	if err := new(Lock).breakFile(f, func(c content) bool { return c.Record.ID == dead.ID() }); !errors.Is(err, lockfile.ErrReplaced) {
		t.Errorf("breaking a file that was replaced gives %v, want %v", err, lockfile.ErrReplaced)
	}
	mustRelease(t, h)
}

// TestBreakKept: somebody else has a kernel lock on a dead holder's file.
func TestBreakKept(t *testing.T) {
	path := t.TempDir() + "/a lock; echo"
	r := backendtest.Request()
	r.Owner.Helper = backendtest.DeadProcess(t)
	dead := mustHold(t, attemptAt(t, path, r))
	mustFail(t, backendtest.BreakID(t.Context(), openLock(t, path).(*Lock), dead.ID()), protocol.Held, "fuser '"+path+"'")
	mustRelease(t, dead)
}

// TestBreakForeign: files of other tools, and unfinished files of ours, have no id.
func TestBreakForeign(t *testing.T) {
	for _, content := range []string{"", "1\n", "garbage\n"} {
		for _, mark := range []os.FileMode{0, os.ModeSticky} {
			path := putFile(t, content, mark)
			l := openLock(t, path).(*Lock)
			mustFail(t, backendtest.BreakID(t.Context(), l, owner.NewID()), protocol.Gone, "break")
			mustFail(t, backendtest.BreakID(t.Context(), l, ""), protocol.Gone, "remove")
			if _, err := os.Lstat(path); err != nil {
				t.Error(err)
			}
		}
	}
	mustFail(t, backendtest.BreakID(t.Context(), openLock(t, t.TempDir()+"/none/lock").(*Lock), owner.NewID()), protocol.CannotCreate, "directory")
}

// TestBreakOtherID: the id in a record names its holder, even if it does not look like our ids.
func TestBreakOtherID(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID, r.Helper = "nightly-7", backendtest.DeadProcess(t)
	text, err := lockfile.Format(r)
	if err != nil {
		t.Fatal(err)
	}
	path := putFile(t, text, os.ModeSticky)
	l := openLock(t, path).(*Lock)
	report, err := l.Read(t.Context())
	if err != nil || len(report.Holders) != 1 || report.Holders[0].ID != r.ID {
		t.Fatalf("Read gives %+v and the error %v, want one holder with the id %s", report, err, r.ID)
	}
	mustFail(t, backendtest.BreakID(t.Context(), l, report.Holders[0].Sign), protocol.Gone, "no longer there")
	if err := backendtest.BreakID(t.Context(), l, r.ID); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

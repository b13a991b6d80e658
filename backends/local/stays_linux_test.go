package local

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// TestDeadThatStays: a waiter that may not remove a dead holder's file tries it no more often
// than a waiter that has just begun to watch may break it. Each try takes the file's kernel lock,
// which others need.
func TestDeadThatStays(t *testing.T) {
	if os.Getuid() != 0 {
		lab.Lacking(t, "needs root")
	}
	path := putFile(t, "", os.ModeSticky) // its maker died before it wrote its record
	set := func(change string) error { return exec.Command("chattr", change, filepath.Dir(path)).Run() }
	if err := set("+a"); err != nil {
		lab.Lacking(t, "this file system knows no append-only directories: "+err.Error())
	}
	t.Cleanup(func() { backendtest.MustWork(t, set("-a")) })
	r, c := fakeRequest()
	a := attemptAt(t, path, r)
	for range 3 {
		if h := mustLookHeld(t, a); h.Advice != "" || a.seen.due <= 0 || a.seen.due > graceAndDrift {
			t.Errorf("a dead holder's file, whose watch began now, may be broken in %v, with the advice %q; want %v at most, and no advice yet", a.seen.due, h.Advice, graceAndDrift)
		}
		c.advance(graceAndDrift)
		if h := mustBeHeld(t, a); !strings.Contains(h.Advice, "let its owner break it") {
			t.Errorf("%v later its removal was not tried, or did not fail: the holder is told as %+v, want the advice to let its owner break it", graceAndDrift, h)
		}
	}
	if err := try(path, nil); !errors.As(err, new(*backend.HeldError)) {
		t.Error(err)
	}
}

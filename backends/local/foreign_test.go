package local

import (
	"fmt"
	"os"
	"testing"
	"time"

	"locksmith/backends/backendtest"
)

// TestUnlinkedButOpen: another tool removes its lock file but keeps it open and
// lives on; the file is not gone from the kernel's point of view, but the lock
// is free.
func TestUnlinkedButOpen(t *testing.T) {
	t.Parallel()
	_, p := startSleep(t)
	path := putFile(t, fmt.Sprintf("%d\n", p.PID), 0)
	open, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	a := attemptAt(t, path, backendtest.Request())
	mustBeHeld(t, a)
	done := make(chan error, 1)
	go func() { done <- a.Wait(t.Context()) }()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the waiter sleeps on although the lock is free")
	}
	mustRelease(t, mustHold(t, a))
}

// TestNumbersThatAreNoPID: a script may write the time, or anything, into its
// lock file.
func TestNumbersThatAreNoPID(t *testing.T) {
	for _, content := range []string{"1795244232\n", "4194305\n", "4294967297\n", "-5\n", "0\n"} {
		path := putFile(t, content, 0)
		mustBeHeld(t, attemptAt(t, path, backendtest.Request()))
	}
}

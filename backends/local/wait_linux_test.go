package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/backends/backendtest"
)

// TestStoppedInRelease: a helper that has removed the file and was stopped before it
// closed it keeps no waiter.
func TestStoppedInRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	stopped := mustAcquire(t, attemptAt(t, path, backendtest.Request()))
	defer func() { _ = stopped.Release(t.Context()) }() // its file is gone
	r, _ := fakeRequest()
	waiter := attemptAt(t, path, r)
	mustBeHeld(t, waiter)
	if !waiter.seen.keeper.isHelper {
		t.Fatal("the holder is taken for none of us")
	}
	woken := make(chan error, 1)
	go func() { woken <- waiter.Wait(t.Context()) }()
	time.Sleep(50 * time.Millisecond) // on a slow machine it proves less
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := unblocked(t, func() error { return <-woken }); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, mustHold(t, waiter))
}

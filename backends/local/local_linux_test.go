package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/test/backendtest"
)

// TestStoppedInRelease: a helper has removed the file, and is stopped before it closes the file.
// It holds up no waiter.
func TestStoppedInRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	stopped := mustAcquire(t, attemptAt(t, path, backendtest.Request()))
	defer func() { _ = stopped.Release(t.Context()) }() // its file is gone
	r, _ := fakeRequest()
	waiter := attemptAt(t, path, r)
	mustBeHeld(t, waiter)
	if !waiter.seen.watched.isHelper {
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

// TestFullDisk: the file can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	backendtest.FullDisk(t, func(path string) error { return try(path, nil) })
}

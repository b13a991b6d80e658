package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
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

// TestKeptWakesNobody: a waiter for a file that stays is not woken when others look at the file,
// although they open it for writing.
func TestKeptWakesNobody(t *testing.T) {
	path := putFile(t, "", 0)
	h := mustHold(t, keptAttempt(t, path, backendtest.Request()))
	waiter := keptAttempt(t, path, backendtest.Request())
	mustBeHeld(t, waiter)
	ctx, cancel := context.WithCancel(t.Context())
	woken := make(chan error, 1)
	go func() { woken <- waiter.Wait(ctx) }()
	looks := 0
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); looks++ {
		mustBeHeld(t, keptAttempt(t, path, backendtest.Request()))
	}
	select {
	case err := <-woken:
		t.Fatalf("woken after %d looks: %v", looks, err)
	default:
	}
	cancel()
	<-woken
	mustRelease(t, h)
}

// TestKeptTooLong: if the record cannot be written, the file is left to others.
func TestKeptTooLong(t *testing.T) {
	path := putFile(t, "", 0)
	r := backendtest.Request()
	r.Owner.Meta = []protocol.Field{{Key: "job", Value: strings.Repeat("x", protocol.MaxLine)}}
	a := keptAttempt(t, path, r)
	if h, err := a.Try(t.Context()); h != nil || backend.CodeOf(err) != protocol.Usage {
		t.Fatalf("a record too long to write gives the hold %v and the error %v, want code %s", h, err, protocol.Usage)
	}
	mustRelease(t, mustHold(t, keptAttempt(t, path, backendtest.Request())))
}

// TestFullDisk: the file can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	backendtest.FullDisk(t, func(path string) error { return try(path, nil) })
}

package nfs

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
)

// patient is a request that looks once an hour, so that something else must wake its waiter.
func patient(mode string) backend.Request {
	hour := backoff.Range{Min: time.Hour, Max: time.Hour}
	r := requestFor(mode)
	r.Owner.Lease = 10 * time.Hour
	r.Polls = &backoff.Config{Poll: hour, Slow: hour}
	return r
}

// TestAllAreWoken: all waiters are woken, even if they are more than a user may have inotify
// instances, which is 128.
func TestAllAreWoken(t *testing.T) {
	const waiters = 200
	path := filepath.Join(t.TempDir(), "lock")
	first := mustHold(t, attemptAt(t, path, "exclusive"))
	var queued, served sync.WaitGroup
	var alone, turns atomic.Int64
	for i := range waiters {
		mode := "exclusive"
		if i%10 == 9 {
			mode = "shared"
		}
		queued.Add(1)
		served.Go(func() {
			a, err := openLock(t, path).Attempt(patient(mode))
			if err != nil {
				t.Error(err)
			}
			if _, err := a.Try(t.Context()); backend.CodeOf(err) != "held" {
				t.Errorf("the lock is held, but: %v", err)
			}
			if mode == "shared" {
				if err := a.Wait(t.Context()); err != nil { // it takes a place in the queue
					t.Error(err)
				}
			}
			queued.Done()
			h, err := backend.Acquire(t.Context(), a)
			if err != nil {
				t.Error(err)
				return
			}
			if mode == "exclusive" {
				turns.Add(1)
				if n := alone.Add(1); n != 1 {
					t.Errorf("%d have the lock alone at the same time", n)
				}
				alone.Add(-1)
			}
			if err := h.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	queued.Wait()
	mustRelease(t, first)
	served.Wait()
	if n, want := turns.Load(), int64(waiters-waiters/10); n != want {
		t.Errorf("%d have had the lock alone, want %d", n, want)
	}
	mustBeTidy(t, path)
}

package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A Recorded helper records its events.
type Recorded struct {
	*Helper
	file string
}

// Record starts a helper that records its events. hold starts a helper for a lock, with some
// flags.
func Record(t testing.TB, hold func(flags ...string) *Helper, flags ...string) Recorded {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events")
	return Recorded{hold(append(flags, "--events", file)...), file}
}

// Has reports whether an event has happened to the helper.
func (h Recorded) Has(event string) bool {
	text, _ := os.ReadFile(h.file) // there is no file at first
	return bytes.Contains(text, []byte(`"event":"`+event+`"`))
}

// Waiting starts a helper for a lock that is held, and returns when the helper knows that it
// waits. A place in the queue is not enough: if the server goes away at that moment, the helper
// takes that for an error.
func Waiting(t testing.TB, hold func(flags ...string) *Helper, flags ...string) *Helper {
	t.Helper()
	h := Record(t, hold, flags...)
	Eventually(t, "it knows that it waits", func() bool { return h.Has("waiting") }, h.Stderr)
	return h.Helper
}

// InTurn lets waiters take the lock and release it, in any order.
func InTurn(waiters ...*Helper) {
	var all sync.WaitGroup
	for _, w := range waiters {
		all.Go(func() {
			w.Held()
			w.Release()
		})
	}
	all.Wait()
}

//go:build unix

package sftp

import (
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/test/backendtest"
)

// trips counts how often a client waits for an answer. It sends two READDIR at once, waits for no
// answer to CLOSE, and sends a look along with the first SETSTAT, and with an OPENDIR for it.
type trips struct {
	mu             sync.Mutex
	halves         int // of trips
	afterSet, done bool
	opened         string // by the last request
}

func (c *trips) note(r *asking) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.kind == typeReaddir:
		c.halves++
	case r.kind == typeClose, r.kind == typeLstat && (c.afterSet || c.opened == r.path):
	default:
		c.halves += 2
	}
	if c.opened = ""; r.kind == typeOpendir {
		c.opened = r.path
	}
	c.afterSet = r.kind == typeSetstat && !c.done
	c.done = c.done || c.afterSet
	return false
}

// since returns how many trips there were since it was last called.
func (c *trips) since() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.halves / 2
	c.halves, c.done = 0, false
	return n
}

// TestRoundTrips: how many round trips each step takes, which a far server makes slow.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	var c trips
	f := startFake(t).when(c.note)
	f.page = 100 // as OpenSSH
	l := f.open(t)
	for range 4 { // so that an old generation is removed, too
		backendtest.MustRelease(t, backendtest.MustAcquire(t, attemptOf(t, l)))
	}
	opened, anew := l.Use(time.Minute), l.Use
	l.Use = func(time.Duration) *symlinks.Lock { return opened }
	a := attemptOf(t, l)
	l.Use = anew
	c.since()
	backendtest.MustWork(t, opened.Check(t.Context())) // once: the first try does not look again
	costs := map[string]int{"connect": c.since()}
	h := backendtest.MustAcquire(t, a)
	costs["acquire"] = c.since()
	backendtest.MustWork(t, h.Heartbeat(t.Context()))
	costs["heartbeat"] = c.since()
	backendtest.MustRelease(t, h)
	costs["release"] = c.since()
	if _, err := l.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	costs["status of a free lock"] = c.since()
	t.Log(costs)
	for what, most := range map[string]int{"connect": 5, "acquire": 12, "heartbeat": 2, "release": 4, "status of a free lock": 8} {
		if costs[what] > most {
			t.Errorf("%s takes %d round trips, not %d", what, costs[what], most)
		}
	}
}

func attemptOf(t *testing.T, l backend.Backend) backend.Attempt {
	t.Helper()
	a, err := l.Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

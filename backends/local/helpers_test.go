package local

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// patience bounds every wait of these tests; nothing depends on its length.
const patience = lab.Patience

var (
	mustFail      = backendtest.MustFail
	mustHold      = backendtest.MustHold
	mustStillHold = backendtest.MustStillHold
	mustAcquire   = backendtest.MustAcquire
	mustRelease   = backendtest.MustRelease
)

func mustBeHeld(t *testing.T, a backend.Attempt) backend.Holder {
	t.Helper()
	return backendtest.MustBeHeld(t, a).Holder
}

// mustLookHeld is mustBeHeld for one look of a Try, which waits for nothing.
func mustLookHeld(t *testing.T, a *attempt) backend.Holder {
	t.Helper()
	h, err := a.takeNow(t.Context())
	held, ok := errors.AsType[*backend.HeldError](err)
	if !ok {
		t.Fatalf("a look returns the hold %v and the error %v, want none, and that it is held", h, err)
	}
	return held.Holder
}

// attemptAt returns an attempt on the lock at a path.
func attemptAt(t *testing.T, path string, r backend.Request) *attempt {
	t.Helper()
	a, err := openLock(t, path).Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

// try returns the error of one Try on the lock at a path, or of the preparation. It releases a
// hold.
func try(path string, options map[string]string) error {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options})
	if err != nil {
		return err
	}
	a, err := l.Attempt(backendtest.Request())
	if err != nil {
		return err
	}
	h, err := a.Try(context.Background())
	if err != nil {
		return err
	}
	return h.Release(context.Background())
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// fakeRequest is a request by a waiter whose clock the test moves.
func fakeRequest() (backend.Request, *fakeClock) {
	r, c := backendtest.Request(), &fakeClock{}
	r.Clock = c
	return r, c
}

// A fakeClock stands still until it is told to advance.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Duration
	timers []*fakeTimer
}

var _ clock.Clock = (*fakeClock)(nil)

func (c *fakeClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) NewTimer(d time.Duration) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{due: c.now + d, c: make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	return t
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
	var later []*fakeTimer
	for _, t := range c.timers {
		if t.due <= c.now {
			t.c <- time.Time{}
		} else {
			later = append(later, t)
		}
	}
	c.timers = later
}

type fakeTimer struct {
	due time.Duration
	c   chan time.Time
}

func (t *fakeTimer) C() <-chan time.Time { return t.c }
func (t *fakeTimer) Stop()               {}

// unblocked returns f's error, or fails if f blocks, as an open of a FIFO may.
func unblocked(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatalf("the call still blocks after %v", patience)
		return nil
	}
}

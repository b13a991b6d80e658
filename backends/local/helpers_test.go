package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/clock"
	"locksmith/protocol"
)

// patience bounds every wait of these tests; nothing depends on its length.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(backendtest.RoleVariable) {
	case "":
		os.Exit(m.Run())
	case roleContender:
		os.Exit(contend())
	default:
		panic("unknown role")
	}
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

// try returns the error of one Try on the lock at a path, preparing included.
// A hold is released.
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

func mustHold(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustBeHeld(t *testing.T, a backend.Attempt) backend.Holder {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held.Holder
}

func mustRelease(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	if backend.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want code %s and %q", err, code, says)
	}
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// publicDir returns a directory that other users reach.
func publicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for d, m := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: mode} {
		if err := os.Chmod(d, m); err != nil {
			t.Fatal(err)
		}
	}
	return dir
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

package nfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
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
	case roleUser:
		os.Exit(playUser())
	default:
		panic("unknown role")
	}
}

// needRoot skips a test that mounts file systems or plays several users.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		backendtest.Lacking(t, "only root may do this")
	}
}

func requestFor(mode string) backend.Request {
	r := backendtest.Request()
	r.Owner.Mode = mode
	return r
}

func attemptAt(t *testing.T, path, mode string) backend.Attempt {
	t.Helper()
	a, err := openLock(t, path).Attempt(requestFor(mode))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try returns the error of one Try on the lock at a path. A hold is released,
// an attempt that failed withdrawn.
func try(t *testing.T, path, mode string) error {
	t.Helper()
	a := attemptAt(t, path, mode)
	h, err := a.Try(t.Context())
	if err != nil {
		return errors.Join(err, a.Withdraw(t.Context()))
	}
	return h.Release(t.Context())
}

func mustHold(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustAcquire(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
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

func mustStillHold(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the holder was hit: %v", err)
	}
}

func mustRelease(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustWork(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func mustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	if err == nil || backend.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want code %s and %q", err, code, says)
	}
}

func mustBeTidy(t *testing.T, path string) {
	t.Helper()
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func inspect(t *testing.T, path string) backend.Report {
	t.Helper()
	r, err := openLock(t, path).Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// publicDir returns a directory that other users reach.
func publicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for d, m := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: mode} {
		mustWork(t, os.Chmod(d, m))
	}
	return dir
}

func modes() []string { return []string{"exclusive", "shared"} }

package link

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
	default:
		panic("unknown role")
	}
}

func openWith(t *testing.T, path string, options map[string]string) backend.Backend {
	t.Helper()
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options})
	mustWork(t, err)
	return l
}

func openLock(t *testing.T, path string) *Lock {
	t.Helper()
	return openWith(t, path, nil).(*Lock)
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	mustWork(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	if left := listed(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// attemptAt returns an attempt on the lock at a path.
func attemptAt(t *testing.T, path string, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := openLock(t, path).Attempt(r)
	mustWork(t, err)
	return a
}

// try returns the error of one Try on the lock at a path, preparing included. A hold
// is released, and what else there is withdrawn.
func try(path string, options map[string]string) error {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options})
	if err != nil {
		return err
	}
	return tryLock(l)
}

func tryLock(l backend.Backend) error {
	a, err := l.Attempt(backendtest.Request())
	if err != nil {
		return err
	}
	ctx := context.Background()
	h, err := a.Try(ctx)
	if err != nil {
		return errors.Join(err, a.Withdraw(ctx))
	}
	return h.Release(ctx)
}

func mustWork(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func mustHold(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	mustWork(t, err)
	return h
}

func mustBeHeld(t *testing.T, a backend.Attempt) *backend.HeldError {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held
}

func mustRelease(t *testing.T, h backend.Hold) {
	t.Helper()
	mustWork(t, h.Release(t.Context()))
}

func mustWithdraw(t *testing.T, a backend.Attempt) {
	t.Helper()
	mustWork(t, a.Withdraw(t.Context()))
}

func mustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	if err == nil || backend.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want code %s and %q", err, code, says)
	}
}

func mustBeGone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, backend.ErrGone) {
		t.Errorf("got %v, want that the lock is gone", err)
	}
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

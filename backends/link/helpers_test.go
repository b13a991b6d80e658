//go:build unix

package link

import (
	"context"
	"errors"
	"os"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend})
}

var (
	mustWork     = backendtest.MustWork
	mustFail     = backendtest.MustFail
	mustHold     = backendtest.MustHold
	mustAcquire  = backendtest.MustAcquire
	mustBeHeld   = backendtest.MustBeHeld
	mustRelease  = backendtest.MustRelease
	mustWithdraw = backendtest.MustWithdraw
	publicDir    = backendtest.PublicDir
)

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
		t.Errorf("the directory is not empty afterwards: %q", left)
	}
}

// attemptAt returns an attempt on the lock at a path.
func attemptAt(t *testing.T, path string, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := openLock(t, path).Attempt(r)
	mustWork(t, err)
	return a
}

// try returns the error of one Try on the lock at a path, or of preparing it. It releases a hold,
// and withdraws everything else.
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

func mustBeGone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, backend.ErrGone) {
		t.Errorf("got %v, want that the lock is gone", err)
	}
}

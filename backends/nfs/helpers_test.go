//go:build unix

package nfs

import (
	"errors"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend, backendtest.RoleUser: playUser})
}

var (
	needRoot        = lab.NeedRoot
	mustWork        = backendtest.MustWork
	mustFail        = backendtest.MustFail
	mustHold        = backendtest.MustHold
	mustAcquire     = backendtest.MustAcquire
	mustStillHold   = backendtest.MustStillHold
	mustBePrintable = backendtest.MustBePrintable
	mustRelease     = backendtest.MustRelease
	publicDir       = backendtest.PublicDir
	mustStay        = backendtest.MustStay
)

func mustBeHeld(t *testing.T, a backend.Attempt) backend.Holder {
	t.Helper()
	return backendtest.MustBeHeld(t, a).Holder
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

func mustBeTidy(t *testing.T, path string) {
	t.Helper()
	if left := backendtest.GenerationLeftovers(path); len(left) > 0 {
		t.Errorf("a free lock leaves %q", left)
	}
}

func inspect(t *testing.T, path string) backend.Report {
	t.Helper()
	r, err := openLock(t, path).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func modes() []string { return []string{"exclusive", "shared"} }

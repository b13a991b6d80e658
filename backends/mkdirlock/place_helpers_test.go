//go:build unix

package mkdirlock

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

func options(k kindOfLock) map[string]string {
	switch k {
	case plain:
		return nil
	case tree:
		return map[string]string{"style": "dir", "tokens": "no"}
	}
	return map[string]string{"style": "dir"}
}

func openLock(t *testing.T, path string, k kindOfLock) *Lock {
	t.Helper()
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options(k)})
	if err != nil {
		t.Fatal(err)
	}
	return l.(*Lock)
}

func requestFor(mode string) backend.Request {
	r := backendtest.Request()
	r.Owner.Mode = mode
	return r
}

func attemptAt(t *testing.T, path string, k kindOfLock, mode string) *attempt {
	t.Helper()
	a, err := openLock(t, path, k).Attempt(requestFor(mode))
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

// try returns the error of one Try on the lock at a path. A hold is released, an
// attempt that failed withdrawn.
func try(t *testing.T, path string, k kindOfLock, mode string) error {
	t.Helper()
	a := attemptAt(t, path, k, mode)
	h, err := a.Try(t.Context())
	if err != nil {
		return errors.Join(err, a.Withdraw(t.Context()))
	}
	return h.Release(t.Context())
}

// acquired is mustAcquire in real time.
func acquired(t *testing.T, a backend.Attempt) *hold {
	t.Helper()
	return backendtest.MustAcquire(t, a).(*hold)
}

// eachPath runs a test with the path of a new lock of each kind and mode.
func eachPath(t *testing.T, test func(t *testing.T, path string, k kindOfLock, mode string)) {
	t.Helper()
	for _, k := range everyKind {
		for _, mode := range modes(k) {
			t.Run(name(k, " ", mode), func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "lock"), k, mode) })
		}
	}
}

func nothingLeft(t *testing.T, path string) {
	t.Helper()
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func inspect(t *testing.T, path string, k kindOfLock) backend.Report {
	t.Helper()
	r, err := openLock(t, path, k).Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustBePrintable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(strings.ReplaceAll(s, "\n", ""), protocol.IsControl) {
		t.Errorf("control characters in %q", s)
	}
}

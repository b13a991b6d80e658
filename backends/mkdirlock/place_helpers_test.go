package mkdirlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

// needRoot skips a test that mounts file systems or plays several users.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		backendtest.Lacking(t, "only root may do this")
	}
}

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
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hold)
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

// listing is what is below a directory, with types, links not followed.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	mustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil {
			b.WriteString(e.Type().String() + " " + path + "\n")
		}
		return err
	}))
	return b.String()
}

// mustStay makes sure that a deed changes nothing below a directory.
func mustStay(t *testing.T, dir string, deed func()) {
	t.Helper()
	before := listing(t, dir)
	deed()
	if after := listing(t, dir); after != before {
		t.Errorf("there was\n%s, now\n%s", before, after)
	}
}

func mustBePrintable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(strings.ReplaceAll(s, "\n", ""), protocol.IsControl) {
		t.Errorf("control characters in %q", s)
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

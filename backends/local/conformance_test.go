package local

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Garble: func() { backendtest.GarbleFiles(t, filepath.Dir(path)) },
			Open:   func() backend.Backend { return openLock(t, path) },
			Leftovers: func() []string {
				left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
				return left
			},
			Remove:   func() { _ = os.Remove(path) },
			Removals: backendtest.RemovalsOf(t, path),
			Abandon:  func(h backend.Hold) { h.(*hold).file.Close() }, // as the kernel does
		}
	}})
}

func openLock(t *testing.T, path string) backend.Backend {
	t.Helper()
	l, err := Open(backend.Address{Scheme: Scheme, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

package flock

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{Shared: true, KernelDrops: true, New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Open: func() backend.Backend { return openLock(t, path) },
			Leftovers: func() []string { // the file stays
				left, _ := filepath.Glob(path + "?*")
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

//go:build unix

package nfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{Shared: true, Queue: true, New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Open:      func() backend.Backend { return openLock(t, path) },
			Leftovers: func() []string { return leftovers(t, path) },
			Remove:    func() { removeReservations(t, path) },
			Abandon:   func(backend.Hold) {}, // a hold keeps nothing open
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

// leftovers is what should not be in the directory of a lock that is free: all
// but the newest generations.
func leftovers(t *testing.T, path string) []string {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join(path, "R", "*"))
	in, _ := filepath.Glob(filepath.Join(path, "G", "*"))
	generations := 0
	for _, name := range in {
		if strings.HasPrefix(filepath.Base(name), "lock.") {
			generations++
		} else {
			left = append(left, name)
		}
	}
	if generations > 4 {
		left = append(left, in...)
	}
	return left
}

func removeReservations(t *testing.T, path string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(path, "R", "*"))
	for _, name := range all {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
}

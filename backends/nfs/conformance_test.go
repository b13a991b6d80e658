//go:build unix

package nfs

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{Shared: true, Queue: true, New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Garble:    func() { backendtest.GarbleFiles(t, path) },
			Open:      func() backend.Backend { return openLock(t, path) },
			Leftovers: func() []string { return backendtest.GenerationLeftovers(path) },
			Remove:    func() { removeReservations(t, path) },
			Removals:  backendtest.RemovalsOfGenerations(t, path),
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

func removeReservations(t *testing.T, path string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(path, "R", "*"))
	for _, name := range all {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
}

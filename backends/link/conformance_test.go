//go:build unix

package link

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

func TestConformance(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"now":   nil,
		"ahead": {"touch": "ahead"},
		"local": {"pids": "local"},
	} {
		t.Run(name, func(t *testing.T) { conformance(t, options) })
	}
}

func conformance(t *testing.T, options map[string]string) {
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Garble:    func() { backendtest.GarbleFiles(t, filepath.Dir(path)) },
			Open:      func() backend.Backend { return openWith(t, path, options) },
			Leftovers: func() []string { return listed(t, filepath.Dir(path)) },
			Remove:    func() { _ = os.Remove(path) },
			Removals:  backendtest.RemovalsOf(t, path),
			Abandon:   func(h backend.Hold) { h.(*hold).closeFile() }, // as the kernel does
		}
	}})
}

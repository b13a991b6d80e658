//go:build unix

package s3

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		address := serve(t)
		return backendtest.Fixture{
			Open:      func() backend.Backend { return mustOpen(t, address) },
			Leftovers: func() []string { return leftovers(t, address) },
			Remove:    func() { removeObjects(t, address, false) },
			Removals:  map[string]func(){"generations removed": func() { removeObjects(t, address, true) }},
			Abandon:   func(backend.Hold) {}, // a hold keeps nothing open
		}
	}})
}

// TestChaos: processes contend for one lock, and some are killed. The lock is not stuck then, and
// its next holder removes at once what the dead left.
func TestChaos(t *testing.T) {
	dir, address := t.TempDir(), serve(t)
	backendtest.MustWork(t, os.WriteFile(filepath.Join(dir, "address"), []byte(address), 0o600))
	contest.Run(t, dir)
	a, err := mustOpen(t, address).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustAcquire(t, a)
	backendtest.MustWork(t, h.Tend(t.Context()))
	backendtest.MustRelease(t, h)
	if left := leftovers(t, address); len(left) > 0 {
		t.Errorf("left behind after chaos: %q", left)
	}
}

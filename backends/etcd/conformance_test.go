//go:build linux

package etcd

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/etcdserver"
)

func TestConformance(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	backendtest.Run(t, backendtest.Subject{Shared: true, Queue: true, Expires: true, New: func(t *testing.T) backendtest.Fixture {
		address := fresh(c)
		prefix := mustOpen(t, address).prefix
		return backendtest.Fixture{
			Open:      func() backend.Backend { return mustOpen(t, address) },
			Leftovers: func() []string { return leftovers(t, c, address) },
			Remove:    func() { removeEntries(t, c, prefix) },
			Removals:  map[string]func(){"lease revoked": func() { revokeAll(t, address) }},
			Abandon:   func(backend.Hold) {}, // nothing but a heartbeat renews a lease
			Garble: func() {
				for _, key := range entries(t, c, prefix) {
					c.Put(t, prefix+key, "of a later version\n")
				}
			},
			Stay: 20 * time.Millisecond,
		}
	}})
}

// TestChaos: processes contend for one lock, and some are killed. The lock is not stuck then, and
// nothing stays of the dead.
func TestChaos(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	dir, address := t.TempDir(), fresh(c)
	backendtest.MustWork(t, os.WriteFile(filepath.Join(dir, "address"), []byte(address), 0o600))
	contest.Run(t, dir)
	a, err := mustOpen(t, address).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	backendtest.MustRelease(t, backendtest.MustAcquire(t, a))
	if left := leftovers(t, c, address); len(left) > 0 {
		t.Errorf("left behind after chaos: %q", left)
	}
}

//go:build linux

package etcd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend})
}

// schemes has the only scheme of this package.
var schemes = []backend.Scheme{{Name: "etcd", Port: "2379", Several: true}}

var locks atomic.Int64

// fresh returns the address of a lock that nobody has used.
func fresh(c *etcdserver.Cluster) string { return c.Address(fmt.Sprintf("locks/l%d", locks.Add(1))) }

// open opens the lock at an address.
func open(address string, access backend.Access) (*lock, error) {
	a, err := backend.ParseAddress(address, schemes)
	if err != nil {
		return nil, err
	}
	l, err := Open(a, access)
	if err != nil {
		return nil, err
	}
	return l.(*lock), nil
}

func mustOpen(t *testing.T, address string) *lock {
	t.Helper()
	l, err := open(address, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// entries returns the names of the keys of holders and waiters.
func entries(t *testing.T, c *etcdserver.Cluster, prefix string) []string {
	t.Helper()
	return slices.DeleteFunc(c.Keys(t, prefix), func(key string) bool { return strings.HasPrefix(key, "locksmith.") })
}

// leftovers is what should not be left of a free lock: all but the token, and what is on the shelf but
// notes.
func leftovers(t *testing.T, c *etcdserver.Cluster, address string) []string {
	t.Helper()
	l := mustOpen(t, address)
	left := entries(t, c, l.prefix)
	v, err := l.look(t.Context())
	backendtest.MustWork(t, err)
	for name := range v.slips {
		if strings.HasPrefix(name, "broken.") {
			left = append(left, name)
		}
	}
	return left
}

// removeEntries destroys the lock under its holder.
func removeEntries(t *testing.T, c *etcdserver.Cluster, prefix string) {
	t.Helper()
	for _, key := range entries(t, c, prefix) {
		c.Remove(t, prefix+key)
	}
}

// revokeAll revokes the leases of all holders and waiters, as an operator may.
func revokeAll(t *testing.T, address string) {
	t.Helper()
	l := mustOpen(t, address)
	v, err := l.look(t.Context())
	backendtest.MustWork(t, err)
	for _, e := range v.line {
		backendtest.MustWork(t, l.revoke(t.Context(), e.lease))
	}
}

var contest = backendtest.Contest{
	Role:       "contender",
	Contenders: 6, Kills: 40, Rounds: 10, Stay: 20 * time.Millisecond,
	Modes: []string{"exclusive", "shared"},
	Attempt: func(dir, mode string) (backend.Attempt, error) {
		address, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			return nil, err
		}
		l, err := open(string(address), backend.Access{})
		if err != nil {
			return nil, err
		}
		r := backendtest.Request()
		r.Owner.Mode, r.Strict = mode, true
		return l.Attempt(r)
	},
}

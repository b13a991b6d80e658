//go:build unix

package s3

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/objects"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
	"locksmith/test/s3server"
)

func TestMain(m *testing.M) {
	s3server.SetEnvironment()
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend})
}

// schemes has the only scheme of this package.
var schemes = []backend.Scheme{{Name: "s3", Port: "443"}}

// serve starts a store in memory with a bucket, and returns the address of a lock in it.
func serve(t *testing.T) (address string) {
	t.Helper()
	return addressAt(s3server.Start(t, s3server.Embedded).Endpoint)
}

func addressAt(endpoint string) string { return s3server.Address(endpoint, "locks/l") }

// open opens the lock at an address.
func open(address string) (*lock, error) {
	a, err := backend.ParseAddress(address, schemes)
	if err != nil {
		return nil, err
	}
	l, err := Open(a, backend.Access{})
	if err != nil {
		return nil, err
	}
	return l.(*lock), nil
}

func mustOpen(t *testing.T, address string) *lock {
	t.Helper()
	l, err := open(address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// keys returns the keys of all objects of a lock.
func keys(t *testing.T, address string) (all []string) {
	t.Helper()
	found, err := mustOpen(t, address).Store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range found {
		all = append(all, o.Key)
	}
	return all
}

// leftovers is what should not be left of a free lock: all but the newest generations.
func leftovers(t *testing.T, address string) (left []string) {
	t.Helper()
	all := keys(t, address)
	for _, key := range all {
		if !strings.HasPrefix(key, "g.") {
			left = append(left, key)
		}
	}
	if len(all)-len(left) > 4 {
		return all
	}
	return left
}

// removeObjects destroys the lock under its holder: its generations, or all else.
func removeObjects(t *testing.T, address string, generations bool) {
	t.Helper()
	store := mustOpen(t, address).Store
	for _, key := range keys(t, address) {
		if strings.HasPrefix(key, "g.") == generations {
			backendtest.MustWork(t, store.Delete(t.Context(), key))
		}
	}
}

var contest = backendtest.Contest{
	Role:       "contender",
	Contenders: 6, Kills: 40, Rounds: 10, Stay: 20 * time.Millisecond,
	Modes: []string{"exclusive"},
	Attempt: func(dir, _ string) (backend.Attempt, error) {
		address, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			return nil, err
		}
		l, err := open(string(address))
		if err != nil {
			return nil, err
		}
		r := backendtest.Request()
		r.Strict = true // no holder here is silent for a lease, unless the machine pauses
		return l.Attempt(r)
	},
}

var _ objects.Store = store{}

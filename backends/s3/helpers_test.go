//go:build unix

package s3

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/s3/objects"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "tester's secret", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "", "AWS_REGION": "",
	} {
		_ = os.Setenv(name, value)
	}
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend})
}

// schemes is the one of this package.
var schemes = []backend.Scheme{{Name: Scheme, Port: "443"}}

// serve starts a store in memory with a bucket, and returns the address of a lock in it.
func serve(t *testing.T) (address string) {
	t.Helper()
	memory := s3mem.New()
	if err := memory.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(memory).Server())
	t.Cleanup(s.Close)
	return addressAt(s.URL)
}

func addressAt(endpoint string) string {
	return "s3://bucket/locks/l?path=style&endpoint=" + url.QueryEscape(endpoint)
}

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

// keys are those of all objects of a lock.
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

// leftovers is what should not be there of a lock that is free: all but the newest generations.
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

// removeReservations destroys the lock under its holder.
func removeReservations(t *testing.T, address string) {
	t.Helper()
	store := mustOpen(t, address).Store
	for _, key := range keys(t, address) {
		if !strings.HasPrefix(key, "g.") {
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
		r.Strict = true // no holder here is silent for a lease, unless the machine is
		return l.Attempt(r)
	},
}

var _ objects.Store = store{}

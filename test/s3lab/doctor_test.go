//go:build unix

package s3lab

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/s3server"
)

func fitForLocks(t *testing.T, name string) {
	examine(t, name, 0, ": fit for locks\n", "in each of 200 rounds one of 32 succeeded")
}

// reasons has, for each store where locks are not safe, what doctor gives as the reason. Where a
// store has several, doctor may find any of them first.
var reasons = map[string][]string{
	"versitygw-1.2.0":  {"several would hold the lock"},
	"versitygw-1.0.14": {"the store ignores the condition"},
	"rclone":           {"the store ignores the condition", "several would hold the lock"},
	"s3rver":           {"the store ignores the condition"},
	s3server.Careless:  {"the store ignores the condition"},
	s3server.Racing:    {"several would hold the lock"},
}

func unfitForLocks(t *testing.T, name string) {
	examine(t, name, protocol.CannotCreate.Exit(), ": not fit for locks", reasons[name]...)
}

// examine has doctor look at a store. Doctor must exit with status, and say the verdict and one
// of the reasons.
func examine(t *testing.T, name string, status int, verdict string, reasons ...string) {
	p := openPlace(t, name)
	got, said := lab.Run(t, locksmith(t, "doctor", p.address()))
	t.Logf("%s", said)
	if got != status || !strings.Contains(said, verdict) || !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(said, r) }) {
		said := p.servers[0].Said()
		t.Errorf("exit status %d, want %d, and one of %q; the store says:\n%s", got, status, reasons, said[max(0, len(said)-3000):])
	}
	if left := p.keys(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestAddresses: a name has three addresses, and doctor asks the two at which somebody listens.
func TestAddresses(t *testing.T) {
	lab.NotShort(t, "starts an object store")
	lab.NeedRoot(t)
	t.Parallel()
	unshare, hosts := lab.NeedProgram(t, "unshare"), filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 store.test\n127.0.0.2 store.test\n::1 store.test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	port := lab.ReservePort(t)
	store := s3server.Pass(t, s3server.Start(t, s3server.Embedded).Endpoint)
	var asked [2]atomic.Int32
	for i := range asked {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%d", 1+i, port))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[i].Add(1)
			store.ServeHTTP(w, r)
		})}
		t.Cleanup(func() { _ = server.Close() })
		go func() { _ = server.Serve(listener) }()
	}
	doctor := locksmith(t, "doctor", "--rounds", "20", s3server.Address(fmt.Sprintf("http://store.test:%d", port), "locks/l"))
	doctor.Args = append([]string{unshare, "--mount", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, hosts, doctor.Path}, doctor.Args[1:]...)
	doctor.Path = unshare
	status, said := lab.Run(t, doctor)
	if status != 0 || asked[0].Load() < 300 || asked[1].Load() < 300 {
		t.Errorf("exit status %d, asked %d and %d times:\n%s", status, asked[0].Load(), asked[1].Load(), said)
	}
}

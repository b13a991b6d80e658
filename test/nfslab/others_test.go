//go:build linux

package nfslab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// others: what people lock with on NFS who have other programs there than ours.
func others(t *testing.T) {
	for _, scheme := range []string{"link:", "mkdir:"} {
		t.Run(strings.TrimSuffix(scheme, ":"), func(t *testing.T) {
			path := place(t)
			lock := scheme + path
			var h history
			c := contender{lock: lock, mode: "exclusive", rounds: 4, lease: 20 * time.Second, work: 5 * time.Millisecond}
			h.raceAll(t, 3*time.Minute, repeat(c, racers))
			if want := racers * c.rounds; len(h.held) != want {
				t.Errorf("%d acquisitions, want %d", len(h.held), want)
			}
			if len(h.losses) > 0 {
				t.Errorf("lost, though nothing happened: %q", h.losses)
			}
			h.check(t, false)
			t.Log(h.rate())
			nothingBeside(t, path)

			// A parent killed with its helper is dead by proof on its own host, and
			// by the lease for another.
			dead := hold(t, 1, lock, "--lease", "1h")
			dead.held()
			dead.kill(helperToo)
			heir := hold(t, 1, lock, "--lease", "4s", "--timeout", "1m")
			heir.held()
			heir.kill(helperToo)
			last := hold(t, 2, lock, "--lease", "4s", "--timeout", "1m")
			last.held()
			last.release()
			nothingBeside(t, path)
		})
	}
}

// nothingBeside makes sure that a lock that is free has left nothing in its directory.
func nothingBeside(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(onServer(path))
	eventually(t, "nothing left in "+dir, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	})
}

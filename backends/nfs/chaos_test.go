//go:build unix

package nfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

var contest = backendtest.Contest{
	Role:       "contender",
	Contenders: 6, Kills: 60, Rounds: 30, Stay: 2 * time.Millisecond,
	Modes: modes(),
	Attempt: func(dir, mode string) (backend.Attempt, error) {
		l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock")})
		if err != nil {
			return nil, err
		}
		r := requestFor(mode)
		r.Strict = true // no holder here is silent for a lease, unless the machine pauses
		return l.Attempt(r)
	},
}

// TestChaos: processes contend for one lock, alone or together, and some are killed. The lock is
// not stuck then, and its next holder removes at once what the dead left.
func TestChaos(t *testing.T) {
	dir := t.TempDir()
	contest.Run(t, dir)
	path := filepath.Join(dir, "lock")
	h := mustAcquire(t, attemptAt(t, path, "exclusive"))
	for range 2 { // only when its reservation is gone is a record known to be nobody's
		mustWork(t, h.Tend(t.Context()))
	}
	mustRelease(t, h)
	for _, left := range backendtest.GenerationLeftovers(path) {
		// A process that died just after it joined others leaves a place in the queue without a record,
		// which goes after a lease.
		place, waits := strings.CutPrefix(filepath.Base(left), "t.")
		if _, err := os.Lstat(filepath.Join(path, "R", "i."+place)); !waits || err == nil {
			t.Errorf("left behind after chaos: %s", left)
		}
	}
}

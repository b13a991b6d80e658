//go:build unix

package link

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

var contest = backendtest.Contest{
	Role:       "contender",
	Contenders: 6, Kills: 100, Rounds: 40, Stay: 8 * time.Millisecond,
	Modes: []string{"exclusive"},
	Attempt: func(dir, _ string) (backend.Attempt, error) {
		l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock")})
		if err != nil {
			return nil, err
		}
		r := backendtest.Request()
		r.Strict = true // no holder is broken by age, which is not safe
		return l.Attempt(r)
	},
}

// TestChaos: processes contend for one lock, and some are killed. The lock is not stuck then.
func TestChaos(t *testing.T) {
	dir := t.TempDir()
	contest.Run(t, dir)
	ageIncomplete(t, dir)
	mustRelease(t, mustAcquire(t, attemptAt(t, filepath.Join(dir, "lock"), backendtest.Request())))
	mustBeEmpty(t, dir)
}

// ageIncomplete makes incomplete claims old. Their makers died before they had written them, so
// nobody can tell whose they are.
func ageIncomplete(t *testing.T, dir string) {
	old := time.Now().Add(-3 * time.Hour)
	for _, name := range listed(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		mustWork(t, err)
		if len(raw) == 0 {
			mustWork(t, os.Chtimes(filepath.Join(dir, name), old, old))
		}
	}
}

//go:build unix

package local

import (
	"path/filepath"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	lab.Main(m, map[string]func() int{contest.Role: contest.Contend, makerRole: stopBetween})
}

var contest = backendtest.Contest{
	Role:       "contender",
	Contenders: 6, Kills: 100, Rounds: 60, Stay: time.Millisecond,
	Modes: []string{"exclusive"},
	Attempt: func(dir, _ string) (backend.Attempt, error) {
		l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock")})
		if err != nil {
			return nil, err
		}
		r := backendtest.Request()
		// It is in a hurry to break unfinished files, because that is where the races are. It
		// never breaks by lease, because its clock would end the lease before the holder's turn.
		r.Clock, r.Strict = hastyClock{}, true
		return l.Attempt(r)
	},
}

// TestChaos: processes contend for one lock, and some are killed. The lock is not stuck
// afterwards.
func TestChaos(t *testing.T) {
	dir := t.TempDir()
	contest.Run(t, dir)
	mustRelease(t, mustAcquire(t, attemptAt(t, filepath.Join(dir, "lock"), backendtest.Request())))
	mustBeEmpty(t, dir)
}

// hastyClock runs haste times too fast.
type hastyClock struct{}

// haste makes the grace for unfinished files about as long as it takes to make a file.
const haste = 100

func (hastyClock) Now() time.Duration                   { return haste * clock.Boot{}.Now() }
func (hastyClock) NewTimer(d time.Duration) clock.Timer { return clock.Boot{}.NewTimer(d / haste) }

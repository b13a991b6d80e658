// Package contest lets helpers contend for one lock, and kills some of them with -9. From what
// was recorded under the lock, it judges whether two helpers ever held it.
//
// The command under the lock is Witness. It records in a Log when it had the lock, by a clock
// that cannot be set, and whether it met another witness. Package holds judges.
package contest

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/test/lab"
)

const exclusive, shared = "exclusive", "shared"

// A Contest is a contest of many helpers for one lock. Each takes the lock once, and then the
// next helper comes.
type Contest struct {
	Log *Log
	// Command returns a helper with these flags before the lock, and this command after it.
	Command func(flags []string, command ...string) *exec.Cmd
	Shared  bool  // half of the helpers share the lock
	Rounds  int32 // how many helpers must end well
	Excused []int // exit statuses, besides 0, that are right for helpers that nobody has killed

	done, kills atomic.Int32
}

// Start lets the given number of helpers contend at a time, until Rounds have ended well and at
// least one was killed. Then it closes over.
func (c *Contest) Start(t *testing.T, helpers int) (over <-chan struct{}) {
	var wg sync.WaitGroup
	for range helpers {
		wg.Go(func() {
			for c.done.Load() < c.Rounds || c.kills.Load() == 0 {
				c.round(t)
			}
		})
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	return all
}

// More waits until n more helpers have ended well, and returns true; or until the contest is
// over, and returns false. Tests use it to time mishaps, and not the clock, so that a slow
// machine gets as far as a fast one.
func (c *Contest) More(t *testing.T, over <-chan struct{}, n int32) bool {
	t.Helper()
	enough, ended := c.done.Load()+n, false
	lab.Eventually(t, "some more have had the lock", func() bool {
		select {
		case <-over:
			ended = true
		default:
		}
		return ended || c.done.Load() >= enough
	})
	return !ended
}

// round takes the lock once, unless its helper is killed.
func (c *Contest) round(t *testing.T) {
	mode, flags, longest := exclusive, []string{"--lease", "30s", "--release-timeout", "30s"}, 10*time.Millisecond
	if c.Shared && rand.IntN(2) == 0 {
		// Those that share the lock have it long enough that others come meanwhile.
		mode, flags, longest = shared, append(flags, "--shared"), 200*time.Millisecond
	}
	helper := lab.Start(t, c.Command(flags, Witness(t, c.Log, mode, rand.N(longest))...))
	killed := rand.IntN(4) == 0 && c.kill(t, helper)
	switch status := helper.Status(); {
	case status == 0:
		c.done.Add(1)
	case strings.Contains(helper.Stderr(), "too slow for the lease"): // because this machine is slow
	case slices.Contains(c.Excused, status):
		t.Logf("%s: exit status %d\n%s", mode, status, helper.Stderr())
	case !killed:
		t.Errorf("%s: exit status %d\n%s", mode, status, helper.Stderr())
	}
}

// kill kills a helper at a random moment, mostly while it is busy with the server, unless the
// helper ends before that.
func (c *Contest) kill(t *testing.T, helper *lab.Process) bool {
	limit := []time.Duration{60 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second}[rand.IntN(3)]
	select {
	case <-helper.Ended():
		return false
	case <-time.After(rand.N(limit)):
	}
	c.Log.Killed(t, helper.PID())
	helper.Kill()
	c.kills.Add(1)
	return true
}

// Witness is a command to run under a lock that is held in this mode. It works for some time.
func Witness(t *testing.T, l *Log, mode string, work time.Duration) []string {
	t.Helper()
	return []string{lab.Program(t, "test/lab/contest/witness"), l.File, mode, work.String()}
}

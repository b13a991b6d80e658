//go:build unix

package history

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"locksmith/backends/clock"
)

// watch looks after a cell until nobody shall want a lock any more. It is the operator for empty
// directories, and notes a lock that is stuck.
func watch(t *testing.T, r *recorder, c *cell, program string) {
	t.Helper()
	for {
		r.mu.Lock()
		over := r.over
		var stuck, empty *lock
		now := clock.Boot{}.Now()
		for _, l := range c.locks {
			vain := l.vain(now)
			if l.looks++; now-vain != l.idle {
				l.looks, l.idle = 0, now-vain
			}
			if time.Duration(l.looks)*lookTime > stuckTime && !l.stuck {
				stuck, l.stuck = l, true
			}
			if vain > operatorTime && c.kind.emptyStays && now-l.reaped > operatorTime {
				empty, l.reaped = l, now
			}
		}
		r.mu.Unlock()
		switch {
		case over:
			return
		case stuck != nil:
			t.Errorf("%s: nobody got it for %v after the last injection:\n%s", stuck.address, stuckTime, c.locksmith(program, "status", stuck.profile))
		case empty != nil:
			c.locksmith(program, "reap", "--yes", "--max-age", lease.String(), empty.address[:strings.LastIndex(empty.address, "/")])
			r.mu.Lock()
			c.tally.reaps++
			r.mu.Unlock()
		}
		time.Sleep(lookTime)
	}
}

// locksmith runs the program and returns its output.
func (c *cell) locksmith(program string, args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Env = c.env
	said, err := cmd.CombinedOutput()
	if err != nil {
		return string(said) + err.Error()
	}
	return string(said)
}

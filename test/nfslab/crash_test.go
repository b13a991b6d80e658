//go:build linux

package nfslab

import (
	"fmt"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab/mishaps"
)

// A crash is one mishap at one moment.
type crash struct {
	mishap
	t         *testing.T
	moment    string
	host      int
	lease     time.Duration
	lock      string
	incumbent *holder // has the lock, while the victim waits
	victim    *holder
	pids      pids
	rival     *holder
	rivalID   string
	lagging   bool
	healed    bool
	happened  time.Duration // when the lock could have become free at the earliest
	taken     time.Duration // when the rival got it

	heard []string
	lost  time.Duration // when the victim's parent heard of it
	fault string        // a promise that was broken
}

const (
	crashLease = 8 * time.Second
	aloneLease = 6 * time.Second  // with less going on meanwhile
	longLease  = 12 * time.Second // of who does not lose the lock
	// blink is how long is away what comes back in time. It needs more than that to get
	// going: requests are repeated ever more seldom.
	blink       = time.Second
	rebootLease = 20 * time.Second
	outageLease = 4 * time.Second // of what comes too late
)

// live goes through the life of a lock, in which the mishap comes, and tells what came of
// it; or that the moment was missed.
func (c *crash) live() (seen string, hit bool) {
	if c.prepare != nil {
		c.prepare(c)
	}
	if !c.reach() {
		c.abandon()
		return "", false
	}
	defer c.sweep()
	c.happened = now()
	c.inject(c)
	if !c.stops {
		c.thaw()
	}
	c.unlag()
	if c.moment == mishaps.Waiting && c.survives {
		return c.waitOn(), true
	}
	if c.moment == mishaps.Waiting {
		c.happened = now()
		c.incumbent.letGo()
	}
	freed := c.freed()
	c.face()
	return freed + ", output: " + c.output(), true
}

// freed waits until the rival has the lock. If the victim keeps it for more than a lease,
// and is to survive, it lets go then.
func (c *crash) freed() string {
	c.t.Helper()
	within := 2 * waitLimit
	if c.survives && c.moment != mishaps.Releasing {
		within = c.lease * 5 / 4
	}
	select {
	case s, ok := <-c.rival.said:
		if !ok || s.Word != protocol.WordOK {
			c.t.Fatalf("the rival: %q %q; stderr:\n%s", s.Word, s.Text, &c.rival.stderr)
		}
		c.taken, c.rivalID = s.at, s.Value("id")
	case <-time.After(within):
		if !c.survives || c.moment == mishaps.Releasing {
			c.t.Fatalf("stuck: the rival has not got the lock after %v:\n%s%s", within, shape(c.lock), processes(c.lock))
		}
		c.healNow()
		c.victim.letGo()
		c.rival.held()
		return mishaps.HeldOn
	}
	took := max(c.taken-c.happened, 0)
	how := mishaps.AtOnce
	switch {
	case c.late != "" && c.moment != mishaps.Waiting:
		how = c.late
	case took >= c.lease/2: // the last heartbeat is a quarter older, and at OK more than that
		how = mishaps.AfterLease
	}
	return fmt.Sprintf("%s (%v)", how, took.Round(10*time.Millisecond))
}

// waitOn makes sure that one who waits, and survives, gets the lock in the end.
func (c *crash) waitOn() string {
	time.Sleep(c.lease / 4)
	c.healNow()
	c.happened = now()
	c.incumbent.letGo()
	s := c.victim.held()
	c.heard = append(c.heard, s.Word)
	return fmt.Sprintf("%s (%v), output: %s", mishaps.WaitsOn, (s.at - c.happened).Round(10*time.Millisecond), c.output())
}

// healNow takes the mishap back, once.
func (c *crash) healNow() {
	if c.heal != nil && !c.healed {
		c.healed = true
		c.heal(c)
	}
}

// face has a victim that did not survive well again while the rival has the lock: nothing
// happens to the rival's.
func (c *crash) face() {
	c.t.Helper()
	c.healNow()
	if !c.survives && c.moment != mishaps.Waiting {
		c.victim.letGo()
		c.hear()
		c.rival.silent()
		heldBy(c.t, incumbentHost, c.lock, c.rivalID)
	}
	c.rival.release()
}

// sweep makes sure that the lock is free for the victim's host, which has seen most of it.
func (c *crash) sweep() {
	if c.t.Failed() {
		return
	}
	script(c.t, c.host, "tc qdisc del dev eth0 root 2>/dev/null || :")
	last := hold(c.t, c.host, c.lock, "--lease", "1m")
	last.held()
	last.release()
}

// abandon ends all whose moment was missed.
func (c *crash) abandon() {
	c.unlag()
	for _, h := range []*holder{c.incumbent, c.victim, c.rival} {
		if h != nil {
			h.letGo()
			h.kill(helperToo)
		}
	}
}

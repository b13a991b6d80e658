//go:build linux

package storages

import (
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	look = 20 * time.Millisecond
	// idle is how many looks without a hold make a lock stuck: more than a dead holder's lease,
	// or several in a row, and what a busy machine adds.
	idle = int(2 * time.Minute / look)
	// soon is when an operator looks whether something was left.
	soon = int(15 * time.Second / look)
)

// run goes through the phases: kills; a host that is cut off; a server that is killed.
func (r *recorder) run(t *testing.T, s storage, all []*contest, n int) {
	over := make(chan struct{})
	go r.notice(over)
	defer close(over)
	var lives sync.WaitGroup
	for _, c := range all {
		for _, k := range c.contenders {
			lives.Go(func() { k.live(r) })
		}
	}
	stop := onlookers(all)
	r.await(t, "kills", all, func(c *contest) bool { return c.holds >= n })
	stop()
	if !s.local {
		r.cut(t, all)
		r.restart(t, s, all)
	}
	r.finish(t, all)
	r.killAll(0)
	lives.Wait()
	t.Logf("%d standstills; standard error:\n%s", r.stood, r.said())
}

// live returns the contests that go on.
func live(all []*contest) (some []*contest) {
	for _, c := range all {
		if !c.over {
			some = append(some, c)
		}
	}
	return some
}

// await waits until all contests that go on have met the condition that is checks. A contest that
// has met it rests until then. A contest in which nobody gets the lock for long has failed.
func (r *recorder) await(t *testing.T, phase string, all []*contest, is func(*contest) bool) {
	t.Helper()
	began := time.Now()
	at, looks := map[*contest]int{}, map[*contest]int{}
	for {
		waiting := false
		var reap []*contest
		r.mu.Lock()
		for _, c := range live(all) {
			if c.rests = is(c); c.rests {
				continue
			}
			waiting = true
			if looks[c]++; at[c] != c.holds {
				at[c], looks[c] = c.holds, 0
			}
			if looks[c]%soon == soon-1 {
				reap = append(reap, c)
			}
			if looks[c] > idle {
				c.fail("stuck: nobody gets it (" + phase + ")")
			}
		}
		for _, c := range all {
			c.rests = c.rests && waiting
		}
		r.awake.Broadcast()
		r.mu.Unlock()
		if !waiting {
			t.Logf("%s: %v", phase, time.Since(began).Round(time.Second))
			return
		}
		for _, c := range reap {
			if c.reap() {
				c.reaps++
			}
		}
		time.Sleep(look)
	}
}

func (c *contest) fail(why string) {
	c.failures = append(c.failures, why)
	c.over = true
}

func do(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", argv, err, out)
	}
}

func (r *recorder) setOutage(is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outage = is
	for _, l := range r.lives {
		l.hurt = true
	}
}

// cut cuts off a host that has each lock. The host is told of its losses before another host has
// the locks, and comes back.
func (r *recorder) cut(t *testing.T, all []*contest) {
	r.each(all, func(c *contest) { c.linger = true })
	r.await(t, "a host that will be cut off has it", all, func(c *contest) bool { return c.captive != nil })
	r.setOutage(true)
	do(t, "hostnet", strconv.Itoa(cutHost), "down")
	had := map[*contest]int{}
	r.each(all, func(c *contest) { had[c] = c.byHost[1] + c.byHost[2] })
	r.await(t, "others have it", all, func(c *contest) bool { return !c.captive.inside && c.byHost[1]+c.byHost[2] > had[c]+2 })
	do(t, "hostnet", strconv.Itoa(cutHost), "up")
	r.each(all, func(c *contest) { c.linger, had[c] = false, c.byHost[cutHost] })
	r.await(t, "the host is back", all, func(c *contest) bool { return c.byHost[cutHost] > had[c] })
	r.setOutage(false)
}

// restart kills the server, and starts it again.
func (r *recorder) restart(t *testing.T, s storage, all []*contest) {
	r.setOutage(true)
	do(t, "storage", "crash")
	time.Sleep(lease / 2)
	do(t, "storage", "start")
	if s.remounts {
		for host := 1; host <= hosts; host++ {
			r.killAll(host)
			do(t, "onhost", strconv.Itoa(host), "umount", "-l", mount)
			do(t, "attach", strconv.Itoa(host))
		}
	}
	had := map[*contest][hosts + 1]int{}
	r.each(all, func(c *contest) { had[c] = c.byHost })
	r.await(t, "the server is back", all, func(c *contest) bool {
		for _, k := range c.contenders {
			if c.byHost[k.host] < had[c][k.host]+2 { // one of which it may have got before
				return false
			}
		}
		return true
	})
	r.setOutage(false)
}

// each applies change to the contests that go on.
func (r *recorder) each(all []*contest, change func(*contest)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range live(all) {
		change(c)
	}
}

// finish lets the contenders end, and makes sure that the locks are free.
func (r *recorder) finish(t *testing.T, all []*contest) {
	r.mu.Lock()
	ending := live(all)
	for _, c := range ending {
		c.over = true
	}
	r.awake.Broadcast()
	r.mu.Unlock()
	for looks := 0; looks < soon; looks++ {
		r.mu.Lock()
		n := len(r.lives)
		r.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(look)
	}
	r.killAll(0)
	for _, c := range ending {
		if c.reap() {
			c.reaps++
		}
		if status, said := c.locksmith(1, "run", "--timeout", "2m", c.address(), "--", "true"); status != 0 {
			c.failures = append(c.failures, "stuck: not free at the end: "+said)
		}
	}
}

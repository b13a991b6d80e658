package interop

import "time"

// refresh: who lives is not taken for dead, on either side.
func (c *cell) refresh() string {
	seen := "ours: " + c.verdict("we stay for longer than their age of locks", c.oursStays())
	if c.tool.refreshes {
		seen += ", theirs: " + c.verdict("they stay for longer than our lease", c.theirsStays())
	}
	return seen
}

// oursStays: the lock of ours looks old only until its next heartbeat. A directory
// keeps its time, but nobody can remove it.
func (c *cell) oursStays() bool {
	h := c.ours("--lease", "8s")
	h.must("held")
	c.age(10 * time.Minute)
	if c.scheme != "mkdir:" {
		eventually(c.T, "a heartbeat", func() bool { return time.Since(c.modified()) < 5*time.Minute })
	}
	status, _ := c.they(true)
	h.leave() // it fails if the lock was lost
	return status != 0
}

// theirsStays: they give signs of life for longer than our lease.
func (c *cell) theirsStays() bool {
	h := c.theirs()
	h.must("held")
	waiter := c.ours("--lease", "8s", "--timeout", "12s")
	for waiter.waits() {
		h.refresh()
	}
	_ = waiter.cmd.Wait() // its status tells
	h.leave()
	return waiter.cmd.ProcessState.ExitCode() == held
}

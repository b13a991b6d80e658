package interop

// theyExclude: the tool's lock keeps us out, and its release lets us in.
func (c *cell) theyExclude() string {
	h := c.theirs()
	h.must("held")
	out := !c.weTake("--timeout", "0")
	waiter := c.ours("--timeout", waitLimit.String())
	out = waiter.waits() && out
	h.leave()
	if out {
		waiter.must("held")
		waiter.leave()
	}
	return c.verdict("they exclude us", out)
}

// weExclude: our lock keeps the tool out, and our release lets it in. With heartbeats as
// seldom as usual flufl.lock breaks it when one is 2 s late, which is for others to show.
func (c *cell) weExclude() string {
	h := c.ours("--refresh", "1s")
	h.must("held")
	status, said := c.they(false)
	if status != held {
		c.Logf("its try: exit status %d, %s", status, said)
	}
	waiter := c.theirs()
	out := waiter.waits() && status == held
	h.leave()
	if out {
		waiter.must("held")
		waiter.leave()
	}
	return c.verdict("we exclude them", out)
}

//go:build unix

package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"locksmith/test/lab"
)

// theyExclude: the tool's lock keeps us out, and its release lets us in.
func (c *cell) theyExclude() string {
	h := c.theirs().held()
	if c.weTake("--timeout", "0") {
		c.Error("locksmith takes a lock that the tool holds")
	}
	waiter := c.ours()
	waiter.waits()
	h.leave()
	waiter.held().leave()
	c.mustBeEmpty()
	return "yes"
}

// weExclude: our lock keeps the tool out, and our release lets it in. flufl.lock breaks our lock
// when a usual, rare heartbeat is 2 s late; other tests show that.
func (c *cell) weExclude() string {
	h := c.ours("--refresh", "1s").held()
	if status, said := c.they(false); status != held {
		c.Errorf("the tool tries a lock that locksmith holds: exit status %d, %s", status, said)
	}
	waiter := c.theirs()
	waiter.waits()
	h.leave()
	waiter.held().leave()
	c.mustBeEmpty()
	return "yes"
}

const (
	each   = 3 // processes of ours, and of the tool
	rounds = 4 // rounds of each
	work   = "3ms"
	linger = 500 * time.Millisecond // after the last release; testdata has it, too
)

// contend lets ours and theirs take the lock in turns. Then it looks into the book in which all
// wrote while they had the lock.
func (c *cell) contend() string {
	book := filepath.Join(c.TempDir(), "book")
	witness := func(who string) []string {
		return []string{lab.Program(c.T, "test/lab/contest/witness"), book, who, work}
	}
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() {
			for range rounds {
				c.turn(witness("ours"))
			}
		})
		wg.Go(func() {
			loop := c.tool.command(false, "loop", append([]string{c.path(), strconv.Itoa(rounds)}, witness("theirs")...)...)
			if out, err := loop.CombinedOutput(); err != nil {
				c.Errorf("theirs: %v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	h := readHistory(c.T, book)
	h.check(c.T)
	ours, theirs := h.turns("ours"), h.turns("theirs")
	if ours != each*rounds || theirs != each*rounds {
		c.Errorf("%d turns of ours and %d of theirs, want %d of each", ours, theirs, each*rounds)
	}
	c.mustBeEmpty()
	return fmt.Sprintf("%d/%d", ours, theirs)
}

// turn runs a locksmith. For a tool that goes by pids, the locksmith stays for a while after its
// end, as a zombie. TestPIDRace shows what goes wrong without.
func (c *cell) turn(command []string) {
	var said bytes.Buffer
	cmd := c.run(append([]string{c.address(), "--"}, command...)...)
	cmd.Stderr = &said
	output, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		c.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, output) // until it ends
	if c.tool.pids {
		time.Sleep(linger)
	}
	if err := cmd.Wait(); err != nil {
		c.Errorf("ours: %v\n%s", err, &said)
	}
}

// stay: a living holder does not count as dead, on either side.
func (c *cell) stay() string {
	c.oursStays()
	if c.tool.refreshes {
		c.theirsStays()
	}
	c.mustBeEmpty()
	return ""
}

// oursStays: a lock of ours looks old only until its next heartbeat. A directory keeps its time,
// but nobody can remove it.
func (c *cell) oursStays() {
	h := c.ours("--refresh", "1s").held()
	c.age(10 * time.Minute)
	if c.scheme != "mkdir:" {
		lab.Eventually(c.T, "a heartbeat", func() bool { return time.Since(c.modified()) < 5*time.Minute })
	}
	if status, said := c.they(true); status == 0 {
		c.Errorf("the tool takes the lock of a living locksmith: %s", said)
	}
	h.leave() // fails if the lock was lost
}

// theirsStays: the tool's holder gives signs of life for longer than our lease. That shows
// nothing if the machine paused, and the holder gave none.
func (c *cell) theirsStays() {
	const lease = 6 * time.Second
	for {
		h, last, pause := c.theirs().held(), time.Now(), time.Duration(0)
		waiter := lab.Start(c.T, c.run("--lease", lease.String(), "--timeout", (lease*3/2).String(), c.address(), "--", "true"))
		for waits := true; waits; {
			c.refresh(h)
			pause, last = max(pause, time.Since(last)), time.Now()
			select {
			case <-waiter.Ended():
				waits = false
			case <-time.After(glance):
			}
		}
		if status := waiter.Status(); status == held {
			h.leave()
			return
		} else if pause < lease/2 {
			c.Fatalf("locksmith takes the tool's lock though its holder gives signs of life: exit status %d", status)
		}
		h.Kill()
	}
}

// theirCrash returns when we break the lock of a holder of theirs that was killed.
func (c *cell) theirCrash() string {
	c.theirs().held().Kill()
	patience := lab.Patience
	if c.scheme != "link:" { // only link: goes by leases
		patience = 7 * time.Second
	}
	switch {
	case c.weTake("--timeout", "0"):
		return "at once"
	case c.weTake("--lease", "3s", "--timeout", patience.String()):
		return "after a lease of silence"
	case c.scheme == "mkdir:" && c.reaped():
		return "never; `reap` by age"
	}
	return "never"
}

// reaped does what an operator's cron job does, which comes again.
func (c *cell) reaped() bool {
	for range 5 { // what was killed may take a moment to end, and touch its lock until then
		c.age(time.Hour)
		status, said := lab.Run(c.T, locksmith(c.T, "reap", "--max-age", "6m", "--yes", c.scheme+c.dir))
		c.Logf("reap: exit status %d\n%s", status, said)
		if !c.exists() {
			return true
		}
		time.Sleep(time.Second)
	}
	return false
}

// ourCrash returns when the tool breaks the lock of a holder of ours that was killed.
func (c *cell) ourCrash() string {
	c.crash()
	// The kernel may take a moment to end what the dead locksmith ran.
	if !c.weTake("--strict", "--timeout", lab.Patience.String()) {
		c.Error("locksmith does not break its own dead holder's lock by proof")
	}
	seen := c.whenBroken(false)
	if c.tool.stale != "" {
		mustWork(c.T, os.RemoveAll(c.path()))
		seen += fmt.Sprintf("; with %s %s", c.tool.stale, c.whenBroken(true))
	}
	return seen
}

// crash leaves a lock of ours behind. What locksmith ran is killed with it.
func (c *cell) crash() {
	c.Helper()
	c.ours().held().Kill()
	if !c.exists() {
		c.Fatal("a locksmith that was killed left no lock")
	}
}

// ages are the ages of a lock at which a tool is asked. The usual limit is 5 minutes.
var ages = []struct {
	name string
	age  time.Duration
}{{"0", 0}, {"30 s", 30 * time.Second}, {"4 min", 4 * time.Minute}, {"6 min", 6 * time.Minute}, {"2 h", 2 * time.Hour}}

// whenBroken returns the age at which the tool breaks the lock of our crashed holder. On a machine on which
// it took so long that the lock was much older by then, it is asked again.
func (c *cell) whenBroken(old bool) (broken string) {
	for range 3 {
		begun := time.Now()
		if broken = c.brokenAt(old, &begun); time.Since(begun) < slowTool {
			break
		}
		mustWork(c.T, os.RemoveAll(c.path()))
	}
	return broken
}

// slowTool is longer than a tool takes to break a lock, and shorter than flufl.lock waits for a clock
// that differs (10 s).
const slowTool = 5 * time.Second

// brokenAt is whenBroken once. begun is when the last lock was given its age.
func (c *cell) brokenAt(old bool, begun *time.Time) string {
	c.crash()
	trouble := ""
	for i, a := range ages {
		c.age(a.age)
		*begun = time.Now()
		broken := "at once"
		if i > 0 {
			broken = fmt.Sprintf("at an age of %s to %s", ages[i-1].name, a.name)
		}
		status, said := c.they(old)
		switch {
		case status == 0:
			return broken + trouble
		case status != held && !c.exists():
			return broken + ", but its call fails then"
		case status != held:
			trouble = ": its call fails (" + said + ")"
		}
	}
	return "never" + trouble
}

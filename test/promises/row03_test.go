//go:build linux

package promises

import (
	"os"
	"os/exec"
	"strings"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
)

// row3: the place is changed under a living holder, who must hear of it.
func row3() []question {
	const told = "the job is ended with 79, or where the kernel keeps the lock, its helper says LOST"
	const atEnd = "the end of the job tells, by 79, or where the kernel keeps the lock, by a line"
	return []question{
		{row: 3, name: "the lock is removed", want: told, ask: changed(remove)},
		{row: 3, name: "the lock is renamed", want: told, ask: changed(rename), of: onDisk},
		{row: 3, name: "the tree above goes", want: told, ask: changed(removeTree), of: onDisk},
		{row: 3, name: "the lock is replaced by another's", want: told, ask: changed(replace)},
		{row: 3, name: "removed right before the end", want: atEnd, ask: changedAtEnd(remove)},
		{row: 3, name: "replaced right before the end", want: atEnd, ask: changedAtEnd(replace)},
		{row: 3, name: "renamed right before the end", want: atEnd, ask: changedAtEnd(rename), of: onDisk},
		{row: 3, name: "an age cleaner", want: "the second is refused, or the first is told", ask: cleaned, of: onDisk},
		{row: 3, name: "what was old before is held", want: "a cleaner by age leaves what a held lock needs", ask: oldBefore, of: onDisk},
		{row: 3, name: "an idle lock was cleaned away", want: "who gets a smaller token than this user has seen is told", ask: tokensAgain, of: tokensRestart},
		{row: 3, name: "doctor of a place for a while", want: "below /tmp it names tmpfiles.d", ask: namesCleaner, of: ofThisDisk},
	}
}

// tokensRestart: those of etcd: are numbers of the cluster, and rise whatever becomes of the lock.
func tokensRestart(k kinds.Kind) bool { return hasTokens(k) && k.Title != "etcd:" }

func remove(c *cell)     { c.Remove(c) }
func removeTree(c *cell) { c.RemovePlace(c) }
func rename(c *cell)     { c.must(os.Rename(c.Path, c.Path+".old")) }

// replace removes the lock, and somebody else takes it.
func replace(c *cell) {
	c.Helper()
	c.Remove(c)
	c.run(append(c.lasting(time.Hour), "-n", "-q")...)
}

func (c *cell) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// changed is asked of a holder who beats.
func changed(change func(*cell)) func(*cell) evil {
	return func(c *cell) evil {
		if c.Kernel {
			h := lab.Hold(c, c.command("hold", c.Address))
			h.Held()
			change(c)
			if said, came := h.Within(40 * time.Second); !came || said.Word != protocol.WordLost {
				return "its helper says nothing for 40 s"
			}
			return ""
		}
		j := c.runs("echo in; exec sleep 600", c.short()...)
		change(c)
		if !j.endsWithin(3*c.lease() + 20*time.Second) { // on a busy machine some heartbeats come late
			return "the job runs on for more than three leases, and is told nothing"
		}
		return c.toldOfLoss(j.ended())
	}
}

// changedAtEnd is asked of a holder whose next heartbeat is far.
func changedAtEnd(change func(*cell)) func(*cell) evil {
	return func(c *cell) evil {
		j := c.run()
		change(c)
		return c.toldOfLoss(j.end())
	}
}

func (c *cell) toldOfLoss(s said) evil {
	if c.Kernel && strings.Contains(s.err, c.Address) || s.status == 79 && s.err != "" {
		return ""
	}
	return evil(s.String())
}

// clean removes what has not changed for some minutes, as those do who keep scratch directories small.
func (c *cell) clean(minutes string) {
	c.Helper()
	// What was put there meanwhile makes a directory that is not empty, which is no failure here.
	_ = exec.Command("find", c.Dir, "-mindepth", "1", "-depth", "-mmin", "+"+minutes, "-delete").Run()
}

func cleaned(c *cell) evil {
	j := c.run(c.lasting(4 * time.Second)...)
	time.Sleep(9 * time.Second)
	c.clean("0.1")
	if s := c.try(); !strings.Contains(s.out, "ran") {
		return ""
	}
	if !c.Kernel && !j.endsWithin(9*time.Second) {
		return "two hold the lock, and the first is told nothing"
	}
	return c.toldOfLoss(j.end())
}

func oldBefore(c *cell) evil {
	if s := c.try(); !strings.Contains(s.out, "ran") {
		c.Fatalf("a free lock: %v", s)
	}
	c.Age(c, 48*time.Hour)
	j := c.run(c.lasting(4 * c.lease())...) // it beats once a lease of usual length
	time.Sleep(2 * c.lease())
	c.clean("60")
	if s := c.try(); strings.Contains(s.out, "ran") {
		return "two hold the lock"
	}
	time.Sleep(2 * c.lease())
	if s := j.end(); s.status != 0 || s.err != "" {
		return evil("the lock is lost: " + s.String())
	}
	return ""
}

func tokensAgain(c *cell) evil {
	for range 3 {
		c.try()
	}
	c.Remove(c)
	if s := c.do("run", "-n", c.Address, "--", "echo", "ran"); !strings.Contains(s.err, "token") {
		return evil(s.String())
	}
	return ""
}

func namesCleaner(c *cell) evil {
	if !strings.HasPrefix(c.Dir, "/tmp/") {
		c.Fatalf("%s is not below /tmp", c.Dir)
	}
	if s := c.do("doctor", c.Address); !s.has("tmpfiles.d") {
		return evil(s.String())
	}
	return ""
}

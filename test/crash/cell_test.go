//go:build linux && amd64

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"locksmith/backends/flocks"
	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// A mishap is a row of the table, with the way to cause it here.
type mishap struct {
	mishaps.Mishap
	where func(kind) bool // nil: every kind of lock on this disk
	few   []string        // the moments that are tried if not all are
	own   bool            // only this cell uses its server
	lease time.Duration
	plan  plan

	prepare func(*cell)
	inject  func(*cell)
	undo    func(*cell) // if the victim is to survive: what makes it well again
	wake    func(*cell) // if it is not: what lets it go on while the rival has the lock
}

// A cell is one mishap at one moment to one kind of lock.
type cell struct {
	*place
	mishap
	moment    string
	victimAt  string      // the lock's address for the victim, if that reaches the lock in a way of its own
	incumbent *lab.Helper // has the lock while the victim waits
	victim    *traced
	command   int // pid of the command of run
	rival     *lab.Helper
	happened  time.Time // when the lock could have become free, at the earliest
	taken     time.Time // when the rival got the lock
	woken     bool
	healed    bool
	pool      bool // the victim has served a lock before this one
	begun     bool // it has said so of this one
	feed      func()

	heard  []event
	death  string           // how the victim ended
	proxy  *ftpserver.Proxy // between the victim and the server
	slow   bool             // the rival asks so seldom that its time proves nothing
	filler string           // the directory of what fills the disk
}

// The victims' leases. Time alone tells "at once" from "after the lease" (freed), so a wait in
// vain must be far from the lease.
const (
	longLease  = 8 * time.Second
	shortLease = 4 * time.Second // for a victim that is to lose the lock
	quickLease = time.Hour       // nobody waits for it
)

// live goes through the life of a lock, with the mishap, and says what came of it.
func (c *cell) live() string {
	if c.prepare != nil {
		c.prepare(c)
	}
	if c.moment == mishaps.Waiting {
		c.incumbent = c.hold("--lease", "1h")
		c.incumbent.Held()
	}
	c.begin()
	switch c.moment {
	case mishaps.Waiting:
		return c.liveWaiting()
	case between, atBegun:
		return c.liveIdle()
	}
	c.compete()
	c.happened = time.Now()
	c.inject(c)
	freed := c.freed()
	c.face()
	c.rival.Release()
	c.end()
	return freed + ", output: " + c.output()
}

// liveWaiting is live for a victim that waits.
func (c *cell) liveWaiting() string {
	c.inject(c)
	if c.undo != nil {
		return c.waitOn()
	}
	c.compete()
	c.happened = time.Now()
	c.incumbent.Release()
	freed := c.freed()
	c.face()
	c.rival.Release()
	c.end()
	return freed + ", output: " + c.output()
}

// waitOn checks that a waiting victim gets the lock in the end.
func (c *cell) waitOn() string {
	time.Sleep(c.lease / 4)
	c.heal()
	c.happened = time.Now()
	c.incumbent.Release()
	for c.heard == nil || c.heard[len(c.heard)-1].word != "says" {
		c.hear(c.victim.event())
	}
	if strings.HasPrefix(c.heard[0].rest, protocol.WordErr) {
		c.end()
		return "gives up, output: " + c.output()
	}
	took := c.heard[len(c.heard)-1].at.Sub(c.happened)
	c.end()
	return fmt.Sprintf("%s (%v), output: %s", mishaps.WaitsOn, round(took), c.output())
}

// face wakes the victim while the rival has the lock. If the victim thinks that it has the lock,
// it ends. Nothing happens to the rival's lock.
func (c *cell) face() {
	if c.wake == nil || c.woken {
		return
	}
	c.wake(c)
	for c.moment != mishaps.Waiting && c.death == "" {
		c.hear(c.victim.event())
	}
	c.mustBeHeld(c.What + ", " + c.moment)
}

// heal undoes the mishap once.
func (c *cell) heal() {
	if c.undo != nil && !c.healed {
		c.healed = true
		c.undo(c)
	}
}

// begin brings the victim to the moment of the mishap.
func (c *cell) begin() {
	c.t.Helper()
	plan := c.plan
	plan.Remote, plan.Kernels = c.remote, c.isKernels()
	at := c.at
	if c.victimAt != "" {
		at = c.victimAt
	}
	refresh := c.lease / 4
	if c.lease == quickLease {
		refresh = longLease / 4
	}
	args := []string{"hold", "--lease", c.lease.String(), "--refresh", refresh.String(), at}
	if c.Run {
		args[0] = "run"
		args = append(args, "--", "sh", "-c", "echo OK $$; exec cat")
	}
	switch c.moment {
	case mishaps.Waiting, mishaps.AtOK, atBegun:
		plan.Moment = c.moment
	case mishaps.Holding, between:
		plan.Blind = true
	}
	if c.pool {
		c.serveFirst(plan, args)
	} else {
		c.victim = c.trace(plan, args...)
	}
	if c.moment == between {
		return
	}
	if plan.Moment != "" {
		c.await("moment")
		return
	}
	c.hear(c.await("says"))
	if c.Run {
		if _, err := fmt.Sscanf(c.heard[0].rest, "OK %d", &c.command); err != nil {
			c.t.Fatalf("the victim says %q, not OK and a pid: %v", c.heard[0].rest, err)
		}
	}
	switch c.moment {
	case mishaps.Heartbeat:
		c.victim.order("pause " + mishaps.Heartbeat)
		c.await("moment")
	case mishaps.Releasing:
		c.victim.order("pause " + mishaps.Releasing)
		c.victim.order("letgo")
		c.await("moment")
	}
}

// await returns the next event, which must be of this kind.
func (c *cell) await(word string) event {
	c.t.Helper()
	e := c.victim.event()
	for ; e.word == "begun"; e = c.victim.event() {
		c.hear(e)
	}
	if e.word != word {
		c.t.Fatalf("%q %q, want %s\n%s", e.word, e.rest, word, c.victim.Stderr())
	}
	return e
}

// compete starts the rival, and waits until the rival has been refused.
func (c *cell) compete() {
	c.t.Helper()
	before, names := c.ids(), c.all()
	c.rival = c.hold("--lease", "1h")
	lab.Eventually(c.t, "a rival", func() bool {
		if c.isKernels() {
			return c.sleeps(c.rival.PID())
		}
		if c.scheme != "mkdir" && c.scheme != "ftp" {
			ownFile := func(name string) bool { return !slices.Contains(names, name) }
			return watches(c.rival.PID()) && (c.scheme != "link" || slices.ContainsFunc(c.all(), ownFile))
		}
		return slices.ContainsFunc(c.all(), func(name string) bool {
			id := idPart.FindString(name)
			return id != "" && !before[id] && recordPath.MatchString(name)
		})
	})
}

// sleeps reports whether a process waits in the kernel's queue for its lock of the file L.
func (c *cell) sleeps(pid int) bool {
	seen, err := flocks.Glance(filepath.Join(c.dir, "L"))
	return err == nil && (slices.Contains(seen.Waiters, pid) || slices.Contains(seen.Sitters, pid))
}

// watches reports whether a process waits: the kernel tells it of files, or it has a bell of its
// own and listens to another's.
func watches(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	sockets := 0
	for _, name := range files {
		target, _ := os.Readlink(name)
		if target == "anon_inode:inotify" {
			return true
		}
		if strings.HasPrefix(target, "socket:") {
			sockets++
		}
	}
	return sockets > 1
}

// recordPath: a waiter has been refused when its record is in its reservation.
var recordPath = regexp.MustCompile(`/x\.[^/]*/`)

// ids returns the ids of all processes that have left a name.
func (c *cell) ids() map[string]bool {
	all := map[string]bool{}
	for _, name := range c.all() {
		if id := idPart.FindString(name); id != "" {
			all[id] = true
		}
	}
	return all
}

// freed waits until the rival has the lock. If the victim is to survive, and the rival has not
// got the lock after one and a half leases, the mishap is undone, and the victim lets go. A
// victim that keeps its lock when it runs again has it for half a lease more.
func (c *cell) freed() string {
	c.t.Helper()
	want := c.Want.Of(c.moment, c.names()...)
	keeps := c.wake != nil && strings.HasPrefix(want, mishaps.HeldOn)
	within := lab.Patience
	if c.undo != nil || keeps {
		within = c.lease * 3 / 2
	}
	s, came := c.rival.Within(within)
	if keeps && !came {
		c.wake(c)
		s, came = c.rival.Within(c.lease / 2)
	}
	held := !came && (c.undo != nil || keeps)
	c.woken = !came && !keeps && c.wake != nil
	switch {
	case c.woken:
		c.happened = time.Now()
		c.wake(c)
		s, _ = c.rival.Within(lab.Patience)
	case held:
		c.heal()
		c.victim.order("letgo")
		s, _ = c.rival.Within(lab.Patience)
	}
	refused := ""
	if s.Word == protocol.WordErr && c.filler != "" && c.moment == mishaps.Releasing {
		// It has said why it failed. The next one finds room.
		refused = fmt.Sprintf("who waits hears ERR code=%s, then ", s.Value("code"))
		c.heal()
		c.happened = time.Now()
		c.rival = c.hold("--lease", "1h")
		s, _ = c.rival.Within(lab.Patience)
	}
	if s.Word != protocol.WordOK {
		c.t.Fatalf("the rival %v later: %q %q; there is %q; its stderr:\n%s", time.Since(c.happened), s.Word, s.Text, c.all(), c.rival.Stderr())
	}
	c.taken = s.At
	took := c.taken.Sub(c.happened)
	switch {
	case c.woken:
		return fmt.Sprintf("%s (%v)", mishaps.HeldUntilAwake, round(took))
	case held:
		c.taken = time.Time{}
		return mishaps.HeldOn
	case c.slow:
		return fmt.Sprintf("%s (%v)", mishaps.AfterReturn, round(took))
	case took < c.lease*3/4:
		return refused + fmt.Sprintf("%s (%v)", mishaps.AtOnce, round(took))
	}
	return fmt.Sprintf("%s (%v)", mishaps.AfterLease, round(took))
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

func (c *cell) hear(e event) {
	switch e.word {
	case "says", "silent":
		c.heard = append(c.heard, e)
		c.t.Log("the victim:", e.word, e.rest)
	case "begun":
		c.begun = true
	case "ended":
		c.death, _, _ = strings.Cut(e.rest, " stops=")
	}
}

// leave makes a victim that pauses go on, or stop, untraced.
func (c *cell) leave(order string) {
	c.t.Helper()
	switch {
	case c.pauses():
		c.victim.order(order)
		for e := c.victim.event(); e.word != "left"; e = c.victim.event() {
			c.hear(e)
		}
	case order == "stop":
		lab.Stop(c.t, c.victim.helper)
	}
}

// resume lets a victim that pauses go on.
func (c *cell) resume() {
	if c.pauses() {
		c.victim.order("go")
	}
}

// pauses reports whether the victim pauses at the moment; else it sleeps.
func (c *cell) pauses() bool { return c.moment != mishaps.Holding && c.moment != between }

// end lets the victim end, in good order if it still can. It checks that nothing is left in the
// way of others.
func (c *cell) end() {
	c.t.Helper()
	c.heal()
	if c.moment != mishaps.Waiting || c.undo != nil {
		c.victim.order("letgo")
	}
	for c.death == "" {
		e, ok := c.victim.more()
		if !ok {
			break
		}
		c.hear(e)
		if e.word == "says" && strings.HasPrefix(e.rest, protocol.WordOK) {
			c.victim.order("letgo")
		}
	}
	c.victim.LetGo()
	c.victim.Rest()
	c.victim.Status()
	lab.Eventually(c.t, "the end of the victim", func() bool { return ended(c.victim.helper) })
	if c.isOrphan() {
		c.reap(c.What)
	}
	last := c.hold()
	last.Held()
	last.Release()
}

// output says what the parent heard, and whether it knew of a loss before the rival had the lock.
func (c *cell) output() string {
	var all []string
	lost := time.Time{}
	for _, e := range c.heard {
		word, rest, _ := strings.Cut(e.rest, " ")
		switch {
		case word == protocol.WordLost:
			lost = e.at
			all = append(all, word)
		case word == protocol.WordErr:
			code, _, _ := strings.Cut(rest, " ")
			all = append(all, word+" "+code)
		case e.word == "says":
			all = append(all, word)
		case c.Run:
		case len(all) == 0 || all[len(all)-1] == protocol.WordOK:
			lost = e.at
			all = append(all, "end of output")
		}
	}
	if c.Run {
		all = append(all, c.death)
	}
	if c.Orphan {
		return "nobody is left"
	}
	if last := len(all) - 1; c.Want.MayBeLost(c.moment, c.names()...) && (all[last] == protocol.WordLost || all[last] == protocol.WordReleased) {
		all[last], lost = mishaps.EitherSaid, time.Time{}
	}
	said := strings.Join(all, ", ")
	switch {
	case c.isKernels(): // both learn of it from the kernel, in any order
		return said
	case c.woken, lost.IsZero() || c.taken.IsZero() || len(all) < 2:
		return said
	case lost.Before(c.taken):
		return said + " before that"
	}
	return said + " after that"
}

//go:build linux && amd64

package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// The moments of a helper that serves one lock after another, at which nobody has the lock.
const (
	between = "between locks" // it has said RELEASED of the first lock, and waits to be asked for the second
	atBegun = "at BEGUN"      // it was asked, and is about to say that it has begun
)

// poolMoments are all moments of such a helper.
var poolMoments = append([]string{between, atBegun}, mishaps.Moments...)

const (
	// nextHasIt is the outcome of a victim that gets the lock, though a mishap came first.
	nextHasIt = "has it afterwards"
	// notBegun is the outcome of a victim that woke when nobody waited for it any more.
	notBegun = "nothing is begun"
)

// ofPool are the mishaps to the helpers of a pool, and to its process.
var ofPool = []mishap{
	inPool(mishaps.ParentKilled, mishap{few: []string{between, atBegun, mishaps.Holding}, lease: quickLease, inject: killParent}, nil),
	inPool(mishaps.ParentStopped, mishap{lease: longLease,
		inject: func(c *cell) {
			c.leave("leave")
			stop(c.victim.PID())
			c.ask()
		},
		undo: func(c *cell) { cont(c.victim.PID()) }}, survivesIdle),
	inPool(mishaps.BothKilled, mishap{few: []string{between, atBegun, mishaps.Holding}, lease: quickLease, inject: killBoth}, nil),
	inPool(mishaps.HelperKilled, mishap{few: []string{between, atBegun}, lease: longLease, plan: plan{Stays: true},
		inject: func(c *cell) {
			kill(c.victim.helper)
			c.resume()
		}}, idleOutcome(mishaps.AtOnce+", output: end of output")),
	inPool(mishaps.BrieflyStopped, mishap{few: []string{between, atBegun}, lease: longLease,
		inject: func(c *cell) {
			c.leave("stop")
			c.ask()
			time.Sleep(c.lease / 8)
			cont(c.victim.helper)
		},
		undo: func(*cell) {}}, survivesIdle),
	inPool(mishaps.LongStopped, mishap{few: []string{between, atBegun, mishaps.Heartbeat}, lease: longLease,
		inject: func(c *cell) {
			c.leave("stop")
			c.ask()
		},
		wake: func(c *cell) { cont(c.victim.helper) }},
		mishaps.Expectation{between: mishaps.AtOnce + ", " + notBegun, atBegun: mishaps.AtOnce + ", output: ERR code=cancelled"}),
	inPool(mishaps.Mishap{What: "helper starved: it runs for a fiftieth of the time", Want: mishaps.ParentStopped.Want},
		mishap{few: []string{between, mishaps.Holding}, lease: longLease,
			inject: func(c *cell) {
				c.leave("leave")
				c.starved()
				c.ask()
			},
			undo: func(c *cell) { c.feed() }}, survivesIdle),
}

var survivesIdle = idleOutcome(nextHasIt + ", output: OK, RELEASED")

// idleOutcome is what must be seen where nobody has the lock.
func idleOutcome(want string) mishaps.Expectation {
	return mishaps.Expectation{between: want, atBegun: want}
}

// inPool is a mishap to a helper of a pool. What must be seen while it waits or has the lock is
// what must be seen of a helper with one lock.
func inPool(m mishaps.Mishap, how mishap, idle mishaps.Expectation) mishap {
	m.Want = maps.Clone(m.Want)
	maps.Copy(m.Want, idle)
	how.Mishap = m
	return how
}

// TestMatrixOfPool goes through all cells of a helper that has served a lock before.
func TestMatrixOfPool(t *testing.T) {
	lab.NotShort(t, "some leases run out")
	besideOthers(t)
	var rows [][]string
	t.Run("cells", func(t *testing.T) {
		for _, m := range ofPool {
			for _, k := range onDisk {
				if k.shared {
					continue
				}
				row := append([]string{m.What, "`" + k.name + "`"}, make([]string, len(poolMoments))...)
				rows = append(rows, row)
				for i, moment := range poolMoments {
					fillAs(t, nil, m, k, moment, true, &row[2+i])
				}
			}
		}
	})
	page := section{title: "The matrix of a pool", text: poolText, judged: judgedOfPool, keys: 2, rows: rows,
		head: slices.Concat([]string{"what happens", "lock"}, poolMoments)}
	page.publish(t)
}

const judgedOfPool = "Every run of the tests judges the quick cells; `test/run --long` all of them."

const poolText = "The victim is `hold --again`: it has served one lock of another name for its parent, as a helper of\n" +
	"`client.Pool` does, and then serves the lock that the rival wants, too. What happens while it waits\n" +
	"for that lock or has it must end as in the first matrix. There are two more moments, at which nobody\n" +
	"has the lock:\n\n" +
	"- *between locks*: it has said RELEASED of the first lock. The request for the second one comes\n" +
	"  while the mishap lasts, but not where somebody is killed\n" +
	"- *at BEGUN*: it was asked for the second lock, and is about to say BEGUN\n\n" +
	"For these moments a cell says when a rival that comes after the mishap got the lock, or that the\n" +
	"victim *has it afterwards*. The parent of a helper that was stopped for long closes the pipe,\n" +
	"without the kill that a pool adds. When the helper wakes, the rival has the lock; a helper that was\n" +
	"stopped between locks does not even begin. A starved helper is stopped, and runs for 5 ms of every\n" +
	"250 ms.\n"

// serveFirst starts a helper, lets it serve a lock of another name, and asks for the one in
// question, if that is not to come later. A helper ends after its first lock if a call was left
// behind, as on a busy machine one to the disk may be: then another one takes its place.
func (c *cell) serveFirst(p plan, args []string) {
	c.t.Helper()
	args = c.arguments(args)
	last := len(args) - 1
	pauseAt := p.Moment
	p.Moment = ""
	for range 5 {
		p.Locks = [][]string{{"--", c.kind.address(c.t.TempDir())}, append(slices.Clone(args[1:last]), "--", args[last])}
		c.victim = c.trace(p, "hold", "--again", "--stdin", "watch")
		c.victim.next("between")
		if pauseAt != "" {
			c.victim.order("pause " + pauseAt)
		}
		if c.moment == between {
			return
		}
		c.victim.order("ask")
		e := c.victim.event()
		if e.word != "silent" {
			c.victim.first = &e
			return
		}
		c.t.Logf("it ended after its first lock: %s", c.victim.Stderr())
	}
}

// ask has the parent ask for the lock, if it has not done so before the mishap.
func (c *cell) ask() {
	if c.moment == between {
		c.victim.order("ask")
	}
}

// liveIdle is live for a victim that a mishap hits before it tries to get the lock.
func (c *cell) liveIdle() string {
	c.happened = time.Now()
	c.inject(c)
	if c.undo != nil {
		return c.goesOn()
	}
	c.rival = c.hold("--lease", "1h")
	s, came := c.rival.Within(lab.Patience)
	if !came || s.Word != protocol.WordOK {
		c.t.Fatalf("a rival that came later: %q %q; there is %q; its stderr:\n%s", s.Word, s.Text, c.all(), c.rival.Stderr())
	}
	took := s.At.Sub(c.happened)
	freed := mishaps.AtOnce
	if took >= c.lease*3/4 {
		freed = mishaps.AfterLease
	}
	if c.wake != nil {
		c.wakeLate()
	}
	c.rival.Release()
	c.end()
	said := "output: " + c.output()
	if c.wake != nil && c.moment == between && !c.begun {
		said = notBegun // it may have said ERR, or have noticed the end of input first
	}
	return fmt.Sprintf("%s (%v), %s", freed, round(took), said)
}

// wakeLate wakes a victim whose parent has given up, while the rival has the lock.
func (c *cell) wakeLate() {
	c.victim.order("close")
	c.await("closed")
	c.wake(c)
	for c.death == "" {
		c.hear(c.victim.event())
	}
	c.mustBeHeld(c.What + ", " + c.moment)
}

// goesOn checks that the victim gets the lock when the mishap is over.
func (c *cell) goesOn() string {
	time.Sleep(c.lease / 4)
	c.heal()
	for c.heard == nil {
		c.hear(c.victim.event())
	}
	took := c.heard[0].at.Sub(c.happened)
	if strings.HasPrefix(c.heard[0].rest, protocol.WordOK) {
		c.mustBeHeld(c.What + ", " + c.moment)
	}
	c.end()
	return fmt.Sprintf("%s (%v), output: %s", nextHasIt, round(took), c.output())
}

// starved stops the victim, and lets it run for a moment again and again until feed is called.
func (c *cell) starved() {
	hungry, fed := make(chan struct{}), make(chan struct{})
	c.feed = func() {
		close(hungry)
		<-fed
	}
	go func() {
		defer close(fed)
		defer cont(c.victim.helper)
		for {
			stop(c.victim.helper)
			select {
			case <-hungry:
				return
			case <-time.After(245 * time.Millisecond):
			}
			cont(c.victim.helper)
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

//go:build linux

package nfslab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
	"locksmith/test/guest"
	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// Who has the lock while the victim waits, and who wants it, too. Each moment's victim
// has a host of its own, so that five of them can live and die at the same time.
const (
	incumbentHost = 2
	rivalHost     = 3
)

var victimHost = map[string]int{mishaps.Waiting: 1, mishaps.AtOK: 4, mishaps.Holding: 5, mishaps.Heartbeat: 6, mishaps.Releasing: 7}

// crashes measures all cells of test/crash's matrix that a version of NFS has.
func crashes(t *testing.T) {
	if c := here(); c.fs == "ext4" && (c.version == "3" || c.version == "4.2") { // whose the page has
		strikeAll(t, provoked, mishaps.Moments)
	}
}

// someCrashes measures a few of them.
func someCrashes(t *testing.T) {
	few := slices.DeleteFunc(slices.Clone(provoked), func(m mishap) bool {
		return m.few == "" || !regexp.MustCompile(m.few).MatchString(here().String())
	})
	strikeAll(t, few, []string{mishaps.Holding, mishaps.Heartbeat})
}

// strikeAll tells each cell in a line that begins with "cell:".
func strikeAll(t *testing.T, all []mishap, moments []string) {
	clock := startClock(t)
	for _, m := range all {
		t.Run(m.What, func(t *testing.T) {
			for _, moment := range moments {
				if why, senseless := m.Not[moment]; senseless {
					tellCell(t, m, moment, why)
					continue
				}
				t.Run(moment, func(t *testing.T) {
					if !m.alone {
						t.Parallel()
					}
					m.at(t, moment, clock)
				})
			}
		})
	}
}

func tellCell(t *testing.T, m mishap, moment, seen string) {
	t.Helper()
	text, err := json.Marshal(crashCell{m.What, "nfs: over NFS " + here().version, moment, seen})
	mustWork(t, err)
	t.Logf("cell: %s", text)
}

// maxTries is how often a moment is missed, or the guest at a standstill, before that is
// taken for a fault. Nobody promises that who gets no time to run notices anything in time.
const maxTries = 5

// at lets it happen at a moment, and judges what came of it.
func (m mishap) at(t *testing.T, moment string, clock *guestClock) {
	m.survives = m.survives || m.patient && moment == mishaps.Waiting
	dir := filepath.Dir(place(t))
	for try := 1; ; try++ {
		c := &crash{mishap: m, t: t, scope: &scope{T: t}, moment: moment, host: victimHost[moment], lock: fmt.Sprintf("%s/L%d", dir, try)}
		stood := clock.lost.Load()
		seen, hit := c.live()
		c.scope.end()
		if hit && c.fault == "" && m.Want.Allows(seen, moment, mishaps.Elsewhere) {
			tellCell(t, m, moment, seen)
			return
		}
		still := time.Duration(clock.lost.Load() - stood)
		t.Logf("try %d, with %v at a standstill; moment hit: %v, seen: %s; %s", try, still, hit, seen, c.fault)
		if hit && still < time.Second || try == maxTries {
			t.Fatalf("%q, want %q; %s", seen, m.Want.Of(moment, mishaps.Elsewhere), c.fault)
		}
	}
}

// A crash is one mishap at one moment.
type crash struct {
	mishap
	t              *testing.T
	scope          *scope
	moment         string
	host           int
	lock           string
	incumbent      *holder // has the lock, while the victim waits
	victim         *holder
	victimID       string
	parent, helper int // the victim's processes
	rival          *holder
	rivalID        string
	lagging        bool
	healed         bool
	happened       time.Time // when the lock could have become free at the earliest
	taken          time.Time // when the rival got it
	heard          []string
	end            chan time.Time // of the victim
	lost           time.Time      // when the victim's parent heard of it
	fault          string         // a promise that was broken
}

// live goes through the life of a lock, in which the mishap comes, and tells what came of
// it; or that the moment was missed.
func (c *crash) live() (seen string, hit bool) {
	if c.prepare != nil {
		c.prepare(c)
	}
	if !c.reach() {
		c.unlag()
		return "", false
	}
	c.happened = time.Now()
	c.inject(c)
	if !c.stops {
		resume(c.helper)
	}
	c.unlag()
	if c.moment == mishaps.Waiting && c.survives {
		seen = c.waitOn()
	} else {
		if c.moment == mishaps.Waiting {
			c.happened = time.Now()
			c.incumbent.LetGo()
		}
		freed := c.freed()
		c.face()
		seen = freed + ", output: " + c.output()
	}
	// The lock is free for the victim's host, which has seen most of it.
	script(c.t, c.host, "tc qdisc del dev eth0 root 2>/dev/null || :")
	last := hold(c.t, c.host, c.lock, "--lease", "1m")
	last.Held()
	last.Release()
	return seen, true
}

// reach brings the victim to the moment, with the rival behind it. There it is stopped,
// unless it sleeps. It reports whether the moment was caught.
func (c *crash) reach() bool {
	c.t.Helper()
	before := 0
	if c.moment == mishaps.Waiting || c.moment == mishaps.AtOK {
		c.incumbent = hold(c.scope, incumbentHost, c.lock, "--lease", "1h")
		c.incumbent.Held()
		before = 1
	}
	if lease := c.span().String(); c.Run {
		c.victim = spawn(c.scope, c.host, `locksmith run --lease "$1" "$2" -- sh -c "echo OK; exec cat"; exit $?`, lease, address(c.lock))
	} else {
		c.victim = hold(c.scope, c.host, c.lock, "--lease", lease)
	}
	c.end = make(chan time.Time, 1)
	go func() {
		<-c.victim.Ended()
		c.end <- time.Now()
	}()
	queued(c.t, c.lock, before+1)
	mine := reservations(c.lock)[before]
	if c.incumbent == nil {
		c.victimID = c.victim.id()
		c.heard = append(c.heard, protocol.WordOK)
	}
	c.parent, c.helper = processes(c.t, c.victim)
	if c.moment != mishaps.Waiting || !c.survives {
		c.rival = hold(c.scope, rivalHost, c.lock, "--lease", "1h")
		queued(c.t, c.lock, before+2)
	}
	switch c.moment {
	case mishaps.AtOK:
		c.lag(100 * time.Millisecond) // there are several before OK
		_, rival := processes(c.t, c.rival)
		stop(rival) // it would overtake who is so slow
		defer resume(rival)
		c.incumbent.LetGo()
		return c.catch(func() bool { return c.pointsTo(filepath.Base(mine)) })
	case mishaps.Heartbeat:
		c.lag(time.Second)
		return c.catch(c.asksServer)
	case mishaps.Releasing:
		c.lag(time.Second)
		lab.Eventually(c.t, "no heartbeat under way", func() bool { return !c.asksServer() })
		c.victim.LetGo()
		return c.catch(c.asksServer)
	}
	return true
}

// processes looks for those of a holder.
func processes(t *testing.T, h *holder) (parent, helper int) {
	t.Helper()
	lab.Eventually(t, "a helper's processes", func() bool {
		for _, p := range guest.Children(h.PID()) {
			for _, c := range guest.Children(p) {
				parent, helper = p, c
			}
		}
		return helper != 0
	})
	return parent, helper
}

// catch stops the victim when it is at the moment. It reports whether it was not too
// late: nothing more was said.
func (c *crash) catch(there func() bool) (hit bool) {
	c.t.Helper()
	const read = 20 * time.Millisecond // for what it has written
	for end := time.Now().Add(lab.Patience); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) || c.victim.Pending() > 0 {
			return false
		}
	}
	stop(c.helper)
	time.Sleep(read)
	return c.victim.Pending() == 0 && c.rival.Pending() == 0
}

// asksServer reports that a thread of the victim's waits for an answer of the server's.
func (c *crash) asksServer() bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", c.helper))
	return slices.ContainsFunc(tasks, func(task string) bool {
		wchan, _ := os.ReadFile(task)
		return strings.HasPrefix(string(wchan), "rpc_wait_bit")
	})
}

// pointsTo reports that the server has a generation for a reservation.
func (c *crash) pointsTo(reservation string) bool {
	all, _ := filepath.Glob(onServer(c.lock) + "/G/lock.*")
	return slices.ContainsFunc(all, func(name string) bool {
		target, _ := os.Readlink(name)
		return filepath.Base(target) == reservation
	})
}

// lag holds back what the victim's host asks the server, so that it can be caught under way.
func (c *crash) lag(by time.Duration) {
	c.lagging = true
	script(c.t, c.host, "tc qdisc replace dev eth0 root netem delay "+by.String())
}

// unlag holds back nothing more. What is held back comes when it would have come.
func (c *crash) unlag() {
	if c.lagging {
		c.lagging = false
		script(c.t, c.host, "tc qdisc change dev eth0 root netem delay 0ms")
	}
}

func stop(pid int)   { _ = unix.Kill(pid, unix.SIGSTOP) } // it may have ended
func resume(pid int) { _ = unix.Kill(pid, unix.SIGCONT) } // it may have been killed

// freed waits until the rival has the lock. If the victim keeps it for more than a lease,
// and is to survive, it lets go then.
func (c *crash) freed() string {
	c.t.Helper()
	if c.survives && c.moment != mishaps.Releasing {
		for end := time.Now().Add(c.span() * 5 / 4); c.rival.Pending() == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				c.healNow()
				c.victim.LetGo()
				c.rival.Held()
				return mishaps.HeldOn
			}
		}
	}
	s := c.rival.Held()
	c.taken, c.rivalID = s.At, s.Value("id")
	took := max(c.taken.Sub(c.happened), 0)
	how := mishaps.AtOnce
	switch {
	case c.late != "" && c.moment != mishaps.Waiting:
		how = c.late
	case took >= c.span()/2: // the last heartbeat is a quarter older, and at OK more than that
		how = mishaps.AfterLease
	}
	return fmt.Sprintf("%s (%v)", how, took.Round(10*time.Millisecond))
}

// waitOn makes sure that one who waits, and survives, gets the lock in the end.
func (c *crash) waitOn() string {
	time.Sleep(c.span() / 4)
	c.healNow()
	c.happened = time.Now()
	c.incumbent.LetGo()
	s := c.victim.Held()
	c.heard = append(c.heard, s.Word)
	return fmt.Sprintf("%s (%v), output: %s", mishaps.WaitsOn, s.At.Sub(c.happened).Round(10*time.Millisecond), c.output())
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
		c.victim.LetGo()
		c.hear()
		c.rival.silent()
		heldBy(c.t, incumbentHost, c.lock, c.rivalID)
		if slices.ContainsFunc(reservations(c.lock), func(name string) bool { return c.victimID != "" && strings.Contains(name, c.victimID) }) {
			c.t.Errorf("the victim is back: %s", state(c.lock))
		}
	}
	c.rival.Release()
}

// hear hears what the victim's parent is told until the end.
func (c *crash) hear() {
	c.t.Helper()
	s, err := c.victim.Next()
	for ; err == nil; s, err = c.victim.Next() {
		c.t.Logf("the victim: %s %s", s.Word, s.Text)
		word := s.Word
		switch word {
		case protocol.WordLost:
			c.lost = s.At
		case protocol.WordErr:
			word += fmt.Sprintf(" (code=%s)", s.Value("code"))
		case protocol.WordOK:
			c.victim.LetGo()
		}
		c.heard = append(c.heard, word)
	}
	if !errors.Is(err, io.EOF) {
		c.t.Fatalf("the victim: %v; stderr:\n%s", err, c.victim.Stderr())
	}
	if c.Run {
		c.lost = <-c.end
		c.heard = append(c.heard, fmt.Sprintf("exit %d", c.victim.Status()))
	} else if len(c.heard) == 0 || c.heard[len(c.heard)-1] == protocol.WordOK {
		c.lost = <-c.end
		c.heard = append(c.heard, "end of output")
	}
}

// output is what the victim's parent heard, and whether it knew of a loss before the rival
// had the lock. That is what must be, unless nobody could tell it.
func (c *crash) output() string {
	c.t.Helper()
	if c.survives {
		c.victim.LetGo()
		c.hear()
	} else if c.moment == mishaps.Waiting {
		c.hear()
	}
	if c.Orphan {
		return "nobody is left"
	}
	said := strings.Join(c.heard, ", ")
	switch {
	case c.Want.MayBeLost(c.moment, mishaps.Elsewhere): // and its parent has let go
		return strings.NewReplacer(protocol.WordLost, mishaps.EitherSaid, protocol.WordReleased, mishaps.EitherSaid).Replace(said)
	case c.Run || c.survives || c.moment == mishaps.Waiting || c.moment == mishaps.Releasing || c.heard[0] != protocol.WordOK:
		return said
	case c.lost.IsZero():
		c.fault = "silence: the victim's parent was told of no loss"
		return said
	case c.lost.Before(c.taken):
		return said + " before that"
	case !c.stops:
		c.fault = fmt.Sprintf("two holders: the rival had the lock %v before the victim's parent knew", c.lost.Sub(c.taken))
	}
	return said + " after that"
}

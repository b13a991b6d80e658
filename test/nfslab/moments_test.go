//go:build linux

package nfslab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"locksmith/test/lab/mishaps"
)

// pids are a helper's processes, as the server's namespace has them.
type pids struct{ parent, helper int }

// How long requests of a victim's host are held back, so that they can be caught under
// way. Before OK there are several.
const (
	shortLag = 100 * time.Millisecond
	longLag  = time.Second
)

// reach brings the victim to the moment, with the rival behind it. There it is stopped,
// unless it sleeps. It reports whether the moment was caught.
func (c *crash) reach() bool {
	c.t.Helper()
	before := 0
	if c.moment == mishaps.Waiting || c.moment == mishaps.AtOK {
		c.incumbent = hold(c.t, incumbentHost, c.lock, "--lease", "1h")
		c.incumbent.held()
		before = 1
	}
	c.start()
	queued(c.t, c.lock, before+1)
	if c.incumbent == nil {
		s := c.victim.held()
		c.heard = append(c.heard, s.Word)
	}
	c.pids = helperOf(c.victim)
	if c.moment != mishaps.Waiting || !c.survives {
		c.rival = hold(c.t, rivalHost, c.lock, "--lease", "1h")
		queued(c.t, c.lock, before+2)
	}
	switch c.moment {
	case mishaps.AtOK:
		mine := c.reservations()[1]
		c.lag(shortLag)
		rival := helperOf(c.rival)
		stop(rival.helper) // it would overtake who is so slow
		defer resume(rival.helper)
		c.incumbent.letGo()
		return c.catch(func() bool { return c.pointsTo(mine) })
	case mishaps.Heartbeat:
		c.lag(longLag)
		return c.catch(c.asksServer)
	case mishaps.Releasing:
		c.lag(longLag)
		for c.asksServer() { // a heartbeat
			time.Sleep(time.Millisecond)
		}
		c.victim.letGo()
		return c.catch(c.asksServer)
	}
	return true
}

// start starts the victim.
func (c *crash) start() {
	if !c.Run {
		c.victim = hold(c.t, c.host, c.lock, "--lease", c.lease.String())
		return
	}
	c.victim = spawn(c.t, c.host, `locksmith run --lease "$1" "$2" -- sh -c "echo OK; exec cat"; exit $?`, c.lease.String(), address(c.lock))
}

// helperOf looks for the processes of a helper.
func helperOf(h *holder) (all pids) {
	h.t.Helper()
	eventually(h.t, "a helper's processes", func() bool {
		for _, parent := range children(h.cmd.Process.Pid) {
			for _, helper := range children(parent) {
				all = pids{parent, helper}
			}
		}
		return all.helper != 0
	})
	return all
}

// catch stops the victim when it is at the moment. It reports whether it was not too
// late: nothing more was said.
func (c *crash) catch(there func() bool) bool {
	c.t.Helper()
	for end := now() + waitLimit; !there(); time.Sleep(time.Millisecond) {
		if now() > end || len(c.victim.said) > 0 {
			return false
		}
	}
	stop(c.pids.helper)
	time.Sleep(20 * time.Millisecond) // what it has written is read
	return len(c.victim.said) == 0 && len(c.rival.said) == 0
}

// asksServer reports that a thread of the victim's waits for an answer of the server's.
func (c *crash) asksServer() bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", c.pids.helper))
	return slices.ContainsFunc(tasks, func(task string) bool {
		wchan, _ := os.ReadFile(task)
		return strings.HasPrefix(string(wchan), "rpc_wait_bit")
	})
}

// reservations are those at the server, in the order of the queue.
func (c *crash) reservations() []string {
	all, _ := filepath.Glob(onServer(c.lock) + "/R/x.*")
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// pointsTo reports that the server has a generation for a reservation.
func (c *crash) pointsTo(reservation string) bool {
	all, _ := filepath.Glob(onServer(c.lock) + "/G/lock.*")
	return slices.ContainsFunc(all, func(name string) bool {
		target, _ := os.Readlink(name)
		return filepath.Base(target) == reservation
	})
}

// lag holds back what the victim's host asks the server.
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

// thaw lets the victim go on.
func (c *crash) thaw() { resume(c.pids.helper) }

func stop(pid int)   { _ = syscall.Kill(pid, syscall.SIGSTOP) } // it may have ended
func resume(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have been killed

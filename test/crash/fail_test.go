//go:build linux && amd64

package crash

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// TestAnyCallFails lets each system call of an acquisition and a release that changes something
// fail once: without effect, or though it was executed. The helper then holds the lock or says
// why not. It says RELEASED only of a lock that is free.
func TestAnyCallFails(t *testing.T) {
	lab.NotShort(t, "it runs a tracer hundreds of times")
	besideOthers(t)
	rows := ofEachOnDisk(t, func(t *testing.T, k kind) [][]string {
		s := newSeries(k, inVain, executed)
		s.failAll(t)
		return s.calls.rows(k.name)
	})
	page := section{
		title: "Any system call fails", text: failedText, judged: judgedInTurns, keys: 2,
		head: []string{"lock", "system call", "in vain", "executed all the same"},
		rows: rows,
	}
	page.publish(t)
}

const (
	inVain   = "in vain"
	executed = "executed"
)

const judgedInTurns = "Every run of the tests judges a failure of each call, and `test/run --long` all of them."

const failedText = "Every system call that changes something fails once with each of EIO, ENOSPC, EINTR, ENOENT, EROFS\n" +
	"and ESTALE, *in vain*, which is without effect, and *executed all the same*, as when a server's\n" +
	"answer is lost. While the parent believes that it has the lock, nobody else gets it, and RELEASED is\n" +
	"only said of a lock that is free. Afterwards the lock works as after a kill (next section). A cell\n" +
	"says what the parent heard, and the helper's exit status:\n"

// failAll goes through all failures of all calls. The quick run takes one failure of each call,
// by turns without effect and executed, and another one for the next call.
func (s *series) failAll(t *testing.T) {
	all := mishaps.Failures
	if !*long {
		s.run(t, func(t testing.TB, n int) (more bool) {
			turn := n + n/len(all) // so that each failure comes in vain and executed
			return s.failed(t, plan{Fail: n, Errno: all[turn%len(all)], TakesIt: n%2 == 0})
		})
		return
	}
	for _, errno := range all {
		for _, takesIt := range []bool{false, true} {
			s.next, s.over = 1, false
			s.run(t, func(t testing.TB, n int) (more bool) {
				return s.failed(t, plan{Fail: n, Errno: errno, TakesIt: takesIt})
			})
		}
	}
}

// failed runs one life in which a call fails.
func (s *series) failed(t testing.TB, plan plan) (more bool) {
	p := newPlace(t, s.kind)
	// The timeout ends before the lease of what the failure may have left, and after a first look at
	// the lock, which takes a tracer on a busy machine more than 5 s.
	h := p.trace(plan, append(s.flags("hold", "--lease", failedLease.String(), "--timeout", "20s"), p.at)...)
	name := fmt.Sprintf("call %d says %v (executed: %v)", plan.Fail, plan.Errno, plan.TakesIt)
	out := outputOf(h.live(func() { p.mustBeHeld(name) }))
	name += ": " + out.stop
	if said := h.Stderr(); strings.Contains(said, "goroutine ") || strings.Contains(said, "panic") {
		t.Errorf("%s: the helper panics: %s", name, said)
	}
	lines := strings.Join(out.lines, " ")
	switch {
	case out.stop == "":
		out.mustBe(t, "exit 0", "OK", "RELEASED")
		return out.spared
	case lines == "OK RELEASED" && out.ended == "exit 0",
		lines == "OK LOST" && out.ended == "exit 79",
		lines == "ERR" && out.ended != "exit 0",
		strings.Contains(out.stop, "write OK") && out.ended != "exit 0",
		strings.Contains(out.stop, "write RELEASED"):
	default:
		t.Errorf("%s: %+v; stderr:\n%s", name, out, h.Stderr())
	}
	p.judge(name, out)
	p.freed(name, "")
	if s.isNew(p.leftovers()) {
		p.mustBeSwept(name)
	}
	column := inVain
	if plan.TakesIt {
		column = executed
	}
	if renewal.MatchString(strings.TrimPrefix(out.stop, "fail ")) {
		return true
	}
	s.calls.add(plan.Fail, strings.TrimPrefix(out.stop, "fail "), column, fmt.Sprintf("%s, %s", strings.Join(out.lines, ", "), out.ended))
	return true
}

// renewal matches a heartbeat before OK, which only a slow machine makes.
var renewal = regexp.MustCompile(`^(utimens .* \(time|rename L/x\.|rename L/lock/.*\(time)`)

// mustBeHeld checks that nobody else gets the lock.
func (p *place) mustBeHeld(what string) {
	p.t.Helper()
	if status, said := p.do("run", "--timeout", "0", p.at, "--", "true"); status != 75 {
		p.t.Errorf("%s: the parent heard OK, but exit status %d: %s", what, status, said)
	}
}

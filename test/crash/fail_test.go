//go:build linux && amd64

package crash

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
)

// failures are what a system call may say though the disk or the server is to blame.
var failures = []syscall.Errno{unix.EIO, unix.ENOSPC, unix.EINTR, unix.ENOENT}

// TestAnyCallFails has every system call of an acquisition and a release that changes
// something fail once, in vain or though it was executed. The helper then holds the
// lock or says why not, and says RELEASED only of a lock that is free.
func TestAnyCallFails(t *testing.T) {
	all := make([][][]string, len(onDisk))
	t.Run("kinds", func(t *testing.T) {
		for i, k := range onDisk {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				s := newSeries(k, inVain, executed)
				s.failAll(t)
				all[i] = s.calls.rows(k.name)
			})
		}
	})
	page := section{
		title: "Any system call fails", text: failedText, judged: judgedAlways, keys: 2,
		head: []string{"lock", "system call", "in vain", "executed all the same"},
		rows: slices.Concat(all...),
	}
	page.publish(t)
}

const (
	inVain   = "in vain"
	executed = "executed"
)

const failedText = "Every system call that changes something fails once, with EIO, ENOSPC, EINTR and ENOENT, in\n" +
	"vain or though it was executed, as when a server's answer is lost. While the parent believes\n" +
	"that it has the lock nobody else gets it, and RELEASED is only said of a lock that is free.\n" +
	"Afterwards it is as above. What the parent heard, and the helper's exit status:\n"

// failAll goes through all failures of all calls; or, to be quick, an eighth of them.
func (s *series) failAll(t *testing.T) {
	for i, errno := range failures {
		for j, takesIt := range []bool{false, true} {
			s.next, s.over = 1, false
			s.run(t, func(t testing.TB, n int) (more bool) {
				if !*long && (2*i+j+n)%8 != 0 {
					return true
				}
				return s.failed(t, plan{Fail: n, Errno: errno, TakesIt: takesIt})
			})
		}
	}
}

// failed is one life in which a call fails.
func (s *series) failed(t testing.TB, plan plan) (more bool) {
	p := newPlace(t, s.kind)
	h := p.trace(plan, append(s.flags("hold", "--lease", failedLease.String(), "--timeout", "5s"), p.at)...)
	name := fmt.Sprintf("call %d says %v (executed: %v)", plan.Fail, plan.Errno, plan.TakesIt)
	events, ok := h.live(func() { p.mustBeHeld(name) })
	out := outputOf(events)
	name += ": " + out.stop
	if said := h.stderr.String(); strings.Contains(said, "goroutine ") || strings.Contains(said, "panic") {
		t.Errorf("%s: %s", name, said)
	}
	lines := strings.Join(out.lines, " ")
	switch {
	case !ok:
		t.Errorf("%s: it hangs: %+v", name, out)
		return false
	case out.stop == "":
		out.mustBe(t, "exit 0", "OK", "RELEASED")
		return out.spared
	case lines == "OK RELEASED" && out.ended == "exit 0",
		lines == "OK LOST" && out.ended == "exit 79",
		lines == "ERR" && out.ended != "exit 0",
		strings.Contains(out.stop, "write OK") && out.ended != "exit 0",
		strings.Contains(out.stop, "write RELEASED"):
	default:
		t.Errorf("%s: %+v; stderr:\n%s", name, out, &h.stderr)
	}
	p.judge(name, out)
	p.freed(name, "")
	p.mustBeSwept(name, &s.swept)
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

// renewal is a heartbeat before OK that only a slow machine makes.
var renewal = regexp.MustCompile(`^(utimens .* \(time|rename L/x\.|rename L/lock/.*\(time)`)

// live waits for the end of a helper, and lets it release once it holds the lock and
// the test has looked.
func (h *traced) live(look func()) (all []event, ok bool) {
	end := time.After(waitLimit + failedLease)
	for {
		select {
		case e, more := <-h.events:
			if !more {
				<-h.gone
				return all, true
			}
			all = append(all, e)
			if e.word == "says" && strings.HasPrefix(e.rest, protocol.WordOK) {
				look()
				h.order("letgo")
			}
		case <-end:
			return all, false
		}
	}
}

// mustBeHeld makes sure that nobody else gets the lock.
func (p *place) mustBeHeld(what string) {
	p.t.Helper()
	if status, said := p.do("run", "--timeout", "0", p.at, "--", "true"); status != 75 {
		p.t.Errorf("%s: the parent heard OK, but exit status %d: %s", what, status, said)
	}
}

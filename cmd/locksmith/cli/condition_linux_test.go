package cli

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/advice"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) process.Process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConditions: each row of the table of conditions, as each of its readers tells it.
func TestConditions(t *testing.T) {
	const over, gone = 2 * time.Minute, 1 << 30
	runs, stopped := sleeper(t), sleeper(t)
	if err := syscall.Kill(stopped.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "it is stopped", stopped.Stopped)
	here := func(v owner.Verdict, helper, parent process.Process, old time.Duration) backend.Holder {
		r := &owner.Record{User: request.UserName(), Place: owner.Here(), Helper: helper, Parent: parent, Lease: time.Minute}
		return backend.Holder{ID: "id", Record: r, Verdict: v, Lease: time.Minute, Heartbeat: old, Sign: "1"}
	}
	elsewhere := func(old, silent time.Duration, overdue bool) backend.Holder {
		h := here(owner.Unknown, process.Process{PID: 7}, process.Process{}, old)
		h.Record.Place, h.Silent, h.Overdue = owner.Place{Host: "web9", Machine: "m", Boot: "b", PIDNS: "p"}, silent, overdue
		return h
	}
	ofKernel := func(h backend.Holder, age time.Duration) backend.Holder {
		h.OfKernel, h.Age, h.Lease, h.Record.Lease, h.Kept = true, age, 0, 0, []int{stopped.PID}
		return h
	}
	byPlace := func(h backend.Holder) backend.Holder {
		h.ByPlace = true
		return h
	}
	nobody, was := process.Process{}, process.Process{PID: gone, Start: 1}
	for _, c := range []struct {
		about   string
		holder  backend.Holder
		is      condition.Condition
		told    bool   // a try with -n -q -E 0 tells of it, and its status is 75
		verdict string // in status, JSON and metrics
		blocked bool   // in JSON and metrics
		old     bool   // metrics have a heartbeat's age
		usual   bool   // status says no more
		says    string // break, and status unless that is usual
		rest    string // break --force
		open    string // what the row of the page demands, and a reader does not do yet
	}{
		{about: "seen living here", holder: here(owner.Alive, runs, nobody, 0), is: condition.Alive, verdict: "alive", usual: true,
			says: "it is alive: its helper, pid", rest: "may still run for 1m0s"},
		{about: "its sign moves", holder: elsewhere(time.Second, 0, false), is: condition.Alive, verdict: "unknown", old: true, says: "it beats", rest: "may still run for 1m0s"},
		{about: "stopped", holder: here(owner.Alive, stopped, nobody, time.Second), is: condition.Stopped, verdict: "stopped", old: true,
			says: "it is stopped, and does nothing until", rest: "may still run"},
		{about: "stopped for a lease", holder: here(owner.Alive, stopped, nobody, over), is: condition.Stopped, told: true, verdict: "stopped", old: true,
			says: "it is stopped, and does nothing until", rest: "may still run"},
		{about: "stopped, kept by the kernel", holder: ofKernel(here(owner.Alive, stopped, nobody, 0), time.Second), is: condition.Stopped, verdict: "stopped",
			says: "it is stopped, and does nothing until", rest: "nothing tells for how long"},
		{about: "stopped, kept by the kernel for long", holder: ofKernel(here(owner.Alive, stopped, nobody, 0), over), is: condition.Stopped, told: true, verdict: "stopped",
			says: "it is stopped, and does nothing until", rest: "nothing tells for how long"},
		{about: "late", holder: elsewhere(30*time.Second, 0, false), is: condition.Late, verdict: "unknown", old: true, says: "it is late", rest: "may still run"},
		{about: "lapsed, and only proof counts", holder: elsewhere(0, over, true), is: condition.Lapsed, told: true, verdict: "unknown", old: true,
			says: "has been over for 1m0s", rest: "its lease is over"},
		{about: "lapsed, by the clock of the lock's place", holder: byPlace(elsewhere(over, 0, false)), is: condition.Lapsed, told: true, verdict: "unknown", old: true,
			says: "has been over for 1m0s", rest: "may still run"},
		{about: "lapsed, by our clock", holder: elsewhere(over, 0, false), is: condition.Lapsed, verdict: "unknown", old: true, says: "has been over for 1m0s", rest: "may still run"},
		{about: "dead", holder: here(owner.Dead, was, nobody, 0), is: condition.Dead, verdict: "dead", says: "it is dead: whoever comes next takes the lock"},
		{about: "dead, not ours to remove", holder: here(owner.Dead, was, nobody, 0).Sticky("l"), is: condition.NotOurs, told: true, verdict: "dead", blocked: true, usual: true,
			says: "it is dead"},
		{about: "left over", holder: here(owner.Orphaned, was, runs, time.Second), is: condition.LeftOver, verdict: "left over", old: true,
			says: "its helper is gone, but its parent", rest: "its helper is dead"},
		{about: "left over for a lease", holder: here(owner.Orphaned, was, runs, over), is: condition.LeftOver, told: true, verdict: "left over", old: true,
			says: "its helper is gone, but its parent", rest: "its helper is dead"},
		{about: "left over, kept by the kernel", holder: backend.Holder{ID: "id", OfKernel: true, Verdict: owner.Orphaned, Kept: []int{runs.PID}}, is: condition.LeftOver, told: true, verdict: "left over",
			says: "the kernel keeps it for pid", rest: "its helper is dead"},
		{about: "foreign", holder: backend.Holder{Verdict: owner.Unknown, Sign: "1", Blocked: true, Note: "what is in it is not ours"}, is: condition.Foreign, told: true, verdict: "unknown",
			blocked: true, usual: true, says: "break l --force", rest: "nothing tells for how long"},
		{about: "empty", holder: backend.Holder{Verdict: owner.Unknown, Note: "an empty directory"}, is: condition.Empty, verdict: "unknown", usual: true,
			says: "remove it by hand", rest: "nothing tells for how long", open: "after a lease unchanged a try tells of it, and metrics call it blocked"},
		{about: "nothing tells", holder: elsewhere(0, 0, false), is: condition.Unknown, verdict: "unknown", says: "nothing tells at one look", rest: "may still run for 1m0s"},
	} {
		t.Run(c.about, func(t *testing.T) {
			if c.open != "" {
				t.Log("open:", c.open)
			}
			if got := condition.Of(c.holder).Condition; got != c.is {
				t.Errorf("it is %q, want %q", got, c.is)
			}
			want := 0
			if c.told {
				want = protocol.Held.Exit()
			}
			if got := exitStatusOr(flags.Number{Given: true}, &backend.HeldError{Lock: "l", Holder: c.holder}); got != want {
				t.Errorf("a try with -n -q -E 0 ends with %d, want %d", got, want)
			}
			l := show.NewLock("l", nil)
			l.Take(backend.Report{Holders: []backend.Holder{c.holder}})
			if h := l.Holders[0]; h.Verdict != c.verdict || h.Blocked != c.blocked {
				t.Errorf("in JSON its verdict is %q, and blocked is %v; want %q and %v", h.Verdict, h.Blocked, c.verdict, c.blocked)
			}
			var metrics strings.Builder
			list := show.NewList(&metrics, "openmetrics", 80)
			list.Add(l, nil)
			if err := list.End(); err != nil {
				t.Error(err)
			}
			for _, line := range []string{
				fmt.Sprintf(`locksmith_lock_verdict{lock="l",verdict="%s"} 1`, c.verdict), fmt.Sprintf(`locksmith_lock_blocked{lock="l"} %d`, number(c.blocked)),
				fmt.Sprintf(`locksmith_lock_dead{lock="l"} %d`, number(c.verdict == "dead")),
			} {
				if !strings.Contains(metrics.String(), line+"\n") {
					t.Errorf("metrics lack %s:\n%s", line, &metrics)
				}
			}
			if strings.Contains(metrics.String(), `heartbeat_seconds{lock="l"}`) != c.old {
				t.Errorf("metrics have the age of a heartbeat: %v, want %v", !c.old, c.old)
			}
			p := show.Participant{Holder: c.holder}
			x := advice.Adviser{Command: func(more ...string) string { return "break l " + strings.Join(more, " ") }}
			if got := x.IsUsual(p); got != c.usual {
				t.Errorf("status says no more of it: %v, want %v", got, c.usual)
			}
			if got := strings.Join(x.Explain(p).Lines(), "\n"); !strings.Contains(got, c.says) {
				t.Errorf("it is explained by %q, want %q", got, c.says)
			}
			if _, got := rest(p); !strings.Contains(got, c.rest) || (got == "") != (c.rest == "") {
				t.Errorf("break --force says %q, want %q", got, c.rest)
			}
		})
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

//go:build linux && amd64

package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func stop(pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) } // it may have ended
func cont(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have ended

// ended reports that there is no such process, or none that does anything.
func ended(pid int) bool {
	s := state(fmt.Sprintf("/proc/%d", pid))
	return s == gone || s == 'Z' || s == 'X'
}

const gone = 0

// state is what a process or a thread does, as proc_pid_stat(5) has it: R, S, T, Z….
func state(dir string) byte {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return gone
	}
	return text[bytes.LastIndexByte(text, ')')+len(") ")]
}

// killParent kills the tracer. The kernel leaves a thread that it had just begun to
// trace with a SIGSTOP, which is not the parent's doing.
func killParent(c *cell) {
	kill(c.victim.cmd.Process.Pid)
	<-c.victim.gone
	cont(c.victim.pid)
}

// killBoth kills the helper first: it would notice that its parent has gone.
func killBoth(c *cell) {
	kill(c.victim.pid)
	kill(c.victim.cmd.Process.Pid)
}

// processes are what may happen to parents, helpers and commands.
var processes = []mishap{
	{what: "parent killed (-9)", quick: true, lease: quickLease, orphan: true,
		want:   expectation{"": atOnce + ", output: nobody is left"},
		inject: killParent},
	{what: "parent stopped (SIGSTOP)", lease: longLease,
		want: survives,
		inject: func(c *cell) {
			c.leave("leave")
			stop(c.victim.cmd.Process.Pid)
		},
		undo: func(c *cell) { cont(c.victim.cmd.Process.Pid) }},
	{what: "helper and parent killed (-9)", quick: true, lease: quickLease, orphan: true,
		want:   expectation{"": atOnce + ", output: nobody is left"},
		inject: killBoth},
	{what: "helper killed (-9), its parent lives", lease: longLease, plan: plan{Stays: true},
		want: dies,
		inject: func(c *cell) {
			kill(c.victim.pid)
			c.resume()
		}},
	{what: "helper stopped (SIGSTOP) for an eighth of its lease", lease: longLease,
		want: survives,
		inject: func(c *cell) {
			c.leave("stop")
			time.Sleep(c.lease / 8)
			cont(c.victim.pid)
		},
		undo: func(*cell) {}},
	{what: "helper stopped (SIGSTOP) for longer than its lease", lease: longLease,
		want: expectation{
			waiting: atOnce + released, releasing: afterLease + eitherSaid, "": afterLease + ", output: OK, LOST after that",
			// A helper that is stopped keeps the kernel lock.
			"local: at OK": heldUntilAwake, "local: holding": heldUntilAwake, "local: heartbeat": heldUntilAwake,
			// The first step is the whole release; of mkdir: an empty directory is left, which
			// counts for 5 s.
			"local: releasing": atOnce + eitherSaid, "nfs: releasing": atOnce + eitherSaid,
			"link: releasing": atOnce + eitherSaid, "mkdir: releasing": atOnce + eitherSaid,
		},
		either: true,
		inject: func(c *cell) { c.leave("stop") },
		wake:   func(c *cell) { cont(c.victim.pid) }},
	{what: "run killed (-9)", run: true, quick: true, lease: quickLease, not: notOK,
		want: expectation{waiting: atOnce + ", output: signal 9", "": atOnce + ", output: OK, signal 9"},
		inject: func(c *cell) {
			kill(c.victim.pid)
			c.resume()
		}},
	{what: "command of run killed (-9)", run: true, quick: true, lease: quickLease, not: notOutside,
		want: expectation{"": atOnce + ", output: OK, exit 137"},
		inject: func(c *cell) {
			kill(c.command)
			c.resume()
		}},
	{what: "command of run stopped (SIGSTOP)", run: true, lease: longLease, not: notOutside,
		want: expectation{"": "held on, output: OK, exit 0"},
		inject: func(c *cell) {
			stop(c.command)
			c.resume()
		},
		undo: func(c *cell) { cont(c.command) }},
}

var (
	notOK      = map[string]string{atOK: "n/a: run says nothing, and its command is in the next column"}
	notOutside = map[string]string{
		waiting:   "n/a: the command was not started",
		atOK:      "n/a: the command was not started",
		releasing: "n/a: the command has ended",
	}
)

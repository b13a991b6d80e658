//go:build linux

package nfslab

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// ofProcesses is what may happen to parents, helpers and commands.
var ofProcesses = []mishap{
	{what: "parent killed (-9)", orphan: true, lease: longLease,
		want:   expectation{"": atOnce + nobodyLeft},
		inject: func(c *crash) { c.kill(c.pids.parent) }},
	{what: "parent stopped (SIGSTOP)", survives: true,
		want:   survives,
		inject: func(c *crash) { stop(c.pids.parent) },
		heal: func(c *crash) {
			resume(c.victim.cmd.Process.Pid) // nsenter stops when its child does
			resume(c.pids.parent)
		}},
	{what: "helper and parent killed (-9)", orphan: true, few: true,
		want:   expectation{waiting: atOnce + nobodyLeft, releasing: atOnce + nobodyLeft, "": afterLease + nobodyLeft},
		inject: func(c *crash) { c.kill(c.pids.helper, c.pids.parent) }},
	{what: "helper killed (-9), its parent lives",
		want:   dies,
		inject: func(c *crash) { c.kill(c.pids.helper) }},
	{what: "helper killed by the kernel for want of memory", alone: true,
		want:   dies,
		inject: (*crash).starve},
	{what: "helper stopped (SIGSTOP) for an eighth of its lease", survives: true,
		want: survives,
		inject: func(c *crash) {
			stop(c.pids.helper)
			time.Sleep(c.lease / 8)
		}},
	{what: "helper stopped (SIGSTOP) for longer than its lease", stops: true,
		want: isCutOff.but(expectation{"": afterLease + ", output: OK, LOST after that"}), either: true,
		inject: func(c *crash) { stop(c.pids.helper) },
		heal:   (*crash).thaw},
	{what: "run killed (-9)", run: true, not: notOK,
		want:   expectation{waiting: atOnce + ", output: exit 137", releasing: atOnce + ", output: OK, exit 137", "": afterLease + ", output: OK, exit 137"},
		inject: func(c *crash) { c.kill(c.pids.helper) }},
	{what: "command of run killed (-9)", run: true, lease: longLease, not: notOutside,
		want:   expectation{"": atOnce + ", output: OK, exit 137"},
		inject: func(c *crash) { c.kill(children(c.pids.helper)...) }},
	{what: "command of run stopped (SIGSTOP)", run: true, survives: true, not: notOutside,
		want: expectation{"": "held on, output: OK, exit 0"},
		inject: func(c *crash) {
			for _, pid := range children(c.pids.helper) {
				stop(pid)
			}
		},
		heal: func(c *crash) {
			for _, pid := range children(c.pids.helper) {
				resume(pid)
			}
		}},
}

var (
	notOK      = map[string]string{atOK: "n/a: run says nothing, and its command is in the next column"}
	notOutside = map[string]string{
		waiting:   "n/a: the command was not started",
		atOK:      "n/a: the command was not started",
		releasing: "n/a: the command has ended",
	}
)

func (c *crash) kill(pids ...int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// starve has the kernel choose somebody to kill for want of memory: the victim, as it is told.
func (c *crash) starve() {
	c.t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.pids.helper), []byte("1000"), 0); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile("/proc/sysrq-trigger", []byte("f"), 0); err != nil {
		c.t.Fatal(err)
	}
}

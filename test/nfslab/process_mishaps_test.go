//go:build linux

package nfslab

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"locksmith/test/lab/mishaps"
)

// ofProcesses is what may happen to parents, helpers and commands.
var ofProcesses = []mishap{
	{Mishap: mishaps.ParentKilled, lease: longLease,
		inject: func(c *crash) { c.kill(c.pids.parent) }},
	{Mishap: mishaps.ParentStopped, survives: true,
		inject: func(c *crash) { stop(c.pids.parent) },
		heal: func(c *crash) {
			resume(c.victim.cmd.Process.Pid) // nsenter stops when its child does
			resume(c.pids.parent)
		}},
	{Mishap: mishaps.BothKilled, few: true,
		inject: func(c *crash) { c.kill(c.pids.helper, c.pids.parent) }},
	{Mishap: mishaps.HelperKilled,
		inject: func(c *crash) { c.kill(c.pids.helper) }},
	{Mishap: mishaps.OutOfMemory, alone: true,
		inject: (*crash).starve},
	{Mishap: mishaps.BrieflyStopped, survives: true,
		inject: func(c *crash) {
			stop(c.pids.helper)
			time.Sleep(c.lease / 8)
		}},
	{Mishap: mishaps.LongStopped, stops: true,
		inject: func(c *crash) { stop(c.pids.helper) },
		heal:   (*crash).thaw},
	{Mishap: mishaps.RunKilled,
		inject: func(c *crash) { c.kill(c.pids.helper) }},
	{Mishap: mishaps.CommandKilled, lease: longLease,
		inject: func(c *crash) { c.kill(children(c.pids.helper)...) }},
	{Mishap: mishaps.CommandStopped, survives: true,
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

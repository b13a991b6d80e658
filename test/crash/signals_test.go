//go:build linux && amd64

package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"locksmith/test/lab/mishaps"
)

func stop(pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) } // it may have ended
func cont(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have ended

// ended reports whether there is no such process, or one that does nothing any more.
func ended(pid int) bool {
	s := state(fmt.Sprintf("/proc/%d", pid))
	return s == gone || s == 'Z' || s == 'X'
}

const gone = 0

// state is the state of a process or a thread in proc_pid_stat(5): R, S, T, Z….
func state(dir string) byte {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return gone
	}
	return text[bytes.LastIndexByte(text, ')')+len(") ")]
}

// killParent kills the tracer. If the tracer had just begun to trace a thread, the kernel leaves
// that thread with a SIGSTOP, which a real parent would not cause.
func killParent(c *cell) {
	c.victim.Kill()
	cont(c.victim.helper)
}

// killBoth kills the helper first, because the helper would notice that its parent has gone.
func killBoth(c *cell) {
	kill(c.victim.helper)
	kill(c.victim.PID())
}

// processes are the mishaps that happen to parents, helpers and commands.
var processes = []mishap{
	{Mishap: mishaps.ParentKilled, few: mishaps.Moments, lease: quickLease,
		inject: killParent},
	{Mishap: mishaps.ParentStopped, lease: longLease,
		inject: func(c *cell) {
			c.leave("leave")
			stop(c.victim.PID())
		},
		undo: func(c *cell) { cont(c.victim.PID()) }},
	{Mishap: mishaps.BothKilled, few: mishaps.Moments, lease: quickLease,
		inject: killBoth},
	{Mishap: mishaps.HelperKilled, few: []string{mishaps.Holding}, lease: longLease, plan: plan{Stays: true},
		inject: func(c *cell) {
			kill(c.victim.helper)
			c.resume()
		}},
	{Mishap: mishaps.BrieflyStopped, lease: longLease,
		inject: func(c *cell) {
			c.leave("stop")
			time.Sleep(c.lease / 8)
			cont(c.victim.helper)
		},
		undo: func(*cell) {}},
	{Mishap: mishaps.LongStopped, few: onHeartbeat, lease: longLease,
		inject: func(c *cell) { c.leave("stop") },
		wake:   func(c *cell) { cont(c.victim.helper) }},
	{Mishap: mishaps.RunKilled, few: mishaps.Moments, lease: quickLease,
		inject: func(c *cell) {
			kill(c.victim.helper)
			c.resume()
		}},
	{Mishap: mishaps.CommandKilled, few: mishaps.Moments, lease: quickLease,
		inject: func(c *cell) {
			kill(c.command)
			c.resume()
		}},
	{Mishap: mishaps.CommandStopped, lease: longLease,
		inject: func(c *cell) {
			stop(c.command)
			c.resume()
		},
		undo: func(c *cell) { cont(c.command) }},
}

var onHeartbeat = []string{mishaps.Heartbeat}

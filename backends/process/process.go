// Package process asks the kernel about processes: when a process started, whether it is gone,
// and when it goes (on Linux and Windows without polling).
//
// A process is named by its pid and its start time together, because pids are used again. The
// answer "gone" is proof: the process runs no instruction any more. If anything is unclear (no
// /proc, no permission), the process counts as not gone.
package process

import (
	"context"
	"errors"
	"time"
)

// ErrNotVisible is returned where the kernel does not show us the process.
var ErrNotVisible = errors.New("process is not visible from here")

// MaxPID is the largest process id there can be (proc_sys_kernel(5), pid_max).
const MaxPID = 1 << 22

// The namespaces of a whole machine that runs Linux, as /proc/self/ns shows them (PROC_PID_INIT_INO,
// PROC_TIME_INIT_INO). From the first all processes are seen. In another time namespace
// CLOCK_BOOTTIME and start times may be shifted. All other names of namespaces are used again
// after their end (time_namespaces(7)).
const (
	FirstPIDNS  = "pid:[4026531836]"
	FirstTimeNS = "time:[4026531834]"
)

// Tick is the unit in which Linux tells when a process started (USER_HZ).
const Tick = 10 * time.Millisecond

// A Process is one run of a program: a pid and the moment when it started, in the kernel's clock
// ticks since boot (proc_pid_stat(5), field 22). Start 0 means that the moment is not known. The
// zero Process means none.
type Process struct {
	PID   int
	Start uint64
	// Lifeline, if not empty, is the name of a lifeline that this process made (see NewLifeline).
	// Then the value does not mean the process, but all that inherited the lifeline.
	Lifeline string
}

// Gone reports whether p has ended: its pid does not exist, is a zombie, or belongs to a process
// that started at another time.
func (p Process) Gone() bool {
	switch {
	case p.PID <= 0:
		return false
	case p.Lifeline != "":
		return p.lifelineGone()
	}
	start, ended, err := stat(p.PID)
	switch {
	case errors.Is(err, ErrNoProcess):
		return true
	case err != nil:
		return false
	}
	return ended || p.Start != 0 && start != p.Start
}

// Find returns the process that has this pid now.
func Find(pid int) (Process, error) {
	start, _, err := stat(pid)
	if err != nil {
		return Process{PID: pid}, err
	}
	return Process{PID: pid, Start: start}, nil
}

// Exited returns a channel that is closed when p has ended. It returns an error where the kernel
// cannot tell us; then the caller polls Gone. Until p ends nothing is woken. The watch ends with
// ctx, which leaves the channel open.
func (p Process) Exited(ctx context.Context) (<-chan struct{}, error) {
	return exited(ctx, p)
}

// Await calls wake when p has ended, and returns then, or when ctx ends. It never calls it for none.
func (p Process) Await(ctx context.Context, wake func()) {
	if p.PID == 0 {
		return
	}
	ended, err := p.Exited(ctx)
	if err != nil { // the kernel cannot tell us
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for ; !p.Gone(); <-tick.C {
			if ctx.Err() != nil {
				return
			}
		}
		wake()
		return
	}
	select {
	case <-ended:
		wake()
	case <-ctx.Done():
	}
}

// ErrNoProcess is returned for a pid that no process has.
var ErrNoProcess = errors.New("no such process")

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// A Process is a program that a test has started. It is killed when the test ends. If it does not
// do what a test waits for, the test fails, and shows the program and its standard error.
type Process struct {
	Cmd   *exec.Cmd
	Stdin *os.File // our end of its standard input; nil: the test chose its input

	t      T
	stdout *os.File      // our end; nil: the test chose its output
	lines  chan Line     // from there
	stderr *os.File      // a file; nil: the test chose it
	ended  chan struct{} // closed after cmd.Wait
}

// Start starts a process. The standard streams that the command leaves open become ours: input
// and output are pipes, and standard error is kept.
func Start(t T, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, t: t, ended: make(chan struct{})}
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = time.Second // descendants may have the output to which the test listens
	}
	theirs := p.openStreams()
	err := cmd.Start()
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	go func() {
		_ = cmd.Wait() // its ProcessState tells
		close(p.ended)
	}()
	over := make(chan struct{})
	if p.stdout != nil {
		p.lines = make(chan Line, 100)
		go p.listen(over)
	}
	t.Cleanup(func() {
		p.Kill()
		close(over)
		_ = p.Stdin.Close() // it may be closed already, or nil
		_ = p.stdout.Close()
	})
	return p
}

// Status waits for the end of the process. It returns the exit status, or -n if signal n ended
// it.
func (p *Process) Status() int {
	p.t.Helper()
	if _, _, inTime := receive(p.ended); !inTime {
		p.fail("it does not end")
	}
	if ws, ok := p.Cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Exits waits for the end of the process, which must have one of these statuses (see Status).
func (p *Process) Exits(statuses ...int) {
	p.t.Helper()
	if got := p.Status(); !slices.Contains(statuses, got) {
		p.fail("exit status %d, want one of %d", got, statuses)
	}
}

// Ended is closed when the process has ended. Then its Cmd has the ProcessState.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// LetGo closes its standard input.
func (p *Process) LetGo() { _ = p.Stdin.Close() }

// StopReading closes our end of its output.
func (p *Process) StopReading() { _ = p.stdout.Close() }

// Signal sends a signal. The process must exist.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		p.fail("%v: %v", s, err)
	}
}

// Kill ends the process with -9, if it has not ended, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.ended
}

// PID is its number.
func (p *Process) PID() int { return p.Cmd.Process.Pid }

func (p *Process) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%q: %s; stderr:\n%s", p.Cmd.Args, fmt.Sprintf(format, args...), p.Stderr())
}

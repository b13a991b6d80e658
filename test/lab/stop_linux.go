package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Stop stops the process with SIGSTOP, and returns when the kernel says that it is stopped.
func (p *Process) Stop() {
	p.t.Helper()
	Stop(p.t, p.PID())
}

// Cont lets the process go on.
func (p *Process) Cont() {
	p.t.Helper()
	p.Signal(unix.SIGCONT)
}

// Stop stops any process as Process.Stop does.
func Stop(t T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatalf("stop %d: %v", pid, err)
	}
	Eventually(t, fmt.Sprintf("process %d is stopped", pid), func() bool { return Stopped(pid) })
}

// Stopped reports whether a process is stopped: all its threads are, except those that have
// ended.
func Stopped(pid int) (stopped bool) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		// pid (name) state …; the name may hold anything
		_, state, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
		switch state[0] {
		case 'T', 't':
			stopped = true
		case 'Z', 'X':
		default:
			return false
		}
	}
	return stopped
}

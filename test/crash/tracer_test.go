//go:build linux && amd64

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A plan says what a tracer does to the helper that it starts.
type plan struct {
	Argv []string // a command to put before the helper's own, if any
	Dir  string   // calls count from the first one that names something below it
	All  bool     // all calls count except the runtime's; else only those on Dir and to the parent

	Kill int // at this stop, from 1; the stops are before and after each call that counts

	Fail    int           // which call is to fail, from 1 among those that change something
	Errno   syscall.Errno // the error of that call
	TakesIt bool          // the call is executed all the same, and only its answer is lost

	Moment  string // where to pause first, and wait for orders on standard input
	LetGo   bool   // the parent lets go as soon as it hears OK
	Seen    bool   // only calls that change something are stops
	Kernels bool   // the lock is one of which the kernel alone decides
	Remote  bool   // text that is written to a server counts
	Blind   bool   // the helper is not traced at all
	Stays   bool   // the parent outlives the helper, until the test has ended

	Locks [][]string // the helper serves two locks for the parent of a pool: the arguments of its requests
}

// A tracer is the parent of one helper, and sees its system calls.
type tracer struct {
	plan
	pid     int
	inside  map[int]*call // the call that each thread makes now
	files   map[int]string
	begun   bool
	stops   int // how many stops counted
	changes int
	times   map[string]int // how often each call was made
	parent  *parent
	left    bool // the helper is not traced any more
}

// trace is the tracer, a program of its own. The kernel reports what the helper does only to the
// thread that started it. And when this program has ended, others see that parent and helper are
// gone.
func trace(text string) error {
	runtime.LockOSThread()
	t := &tracer{inside: map[int]*call{}, files: map[int]string{}, times: map[string]int{}}
	if err := json.Unmarshal([]byte(text), &t.plan); err != nil {
		return err
	}
	if err := t.start(); err != nil {
		return err
	}
	status, err := t.follow()
	if err != nil {
		return err
	}
	t.parent.ended(status)
	if t.Stays {
		select {} // obey ends it
	}
	return nil
}

// start starts the helper with pipes to us, its parent.
func (t *tracer) start() error {
	in, toHelper, err1 := os.Pipe()
	fromHelper, out, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(t.Argv[0], t.Argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{in.Fd(), out.Fd(), 2}, Sys: &syscall.SysProcAttr{Ptrace: !t.Blind},
	})
	if err != nil {
		return err
	}
	in.Close()
	out.Close()
	t.pid = pid
	t.parent = newParent(pid, toHelper, t.plan)
	go t.parent.listen(fromHelper)
	go t.parent.obey(os.Stdin)
	if t.Blind {
		return nil
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return fmt.Errorf("wait for the helper's first stop: %w", err)
	}
	if err := syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD); err != nil {
		return fmt.Errorf("trace the helper: %w", err)
	}
	return t.resume(pid, 0)
}

// resume lets a thread go on to its next stop.
func (t *tracer) resume(tid int, signal syscall.Signal) error {
	err := syscall.PtraceSyscall(tid, int(signal))
	if errors.Is(err, syscall.ESRCH) { // it was killed
		return nil
	}
	return err
}

const syscallStop = syscall.SIGTRAP | 0x80

// follow goes from stop to stop until the helper has ended.
func (t *tracer) follow() (syscall.WaitStatus, error) {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for the helper: %w", err)
		case !status.Stopped():
			if tid == t.pid {
				return status, nil
			}
			delete(t.inside, tid)
			continue
		}
		pass, err := t.stopped(tid, status)
		if err == nil && !t.left {
			err = t.resume(tid, pass)
		}
		if err != nil {
			return 0, err
		}
	}
}

// stopped finds out why a thread has stopped, and returns the signal that the thread is to get.
func (t *tracer) stopped(tid int, status syscall.WaitStatus) (syscall.Signal, error) {
	_, known := t.inside[tid]
	if !known {
		t.inside[tid] = nil
	}
	switch signal := status.StopSignal(); {
	case signal == syscallStop:
		return 0, t.atCall(tid)
	case signal == syscall.SIGTRAP, signal == syscall.SIGSTOP && !known && tid != t.pid:
		return 0, nil // a new thread
	default:
		return signal, nil
	}
}

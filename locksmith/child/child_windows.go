package child

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"locksmith/locksmith"
)

// waitStatus is an exit status, and the job that the command runs in.
type waitStatus struct {
	code int
	job  job
}

// outlivesUs is false: the command's job ends it when we die.
func (c *Command) outlivesUs() bool { return false }

// startAndReap starts the command in a job object that we are in as well. So all descendants of
// the command are in it from their first instruction. When we die, the system closes the job and
// thereby kills all of them.
func (c *Command) startAndReap(env []string, started chan<- error) {
	var err error
	if c.status.job, err = enterJob(); err != nil {
		started <- newError(fmt.Errorf("make the command die with us: %w", err))
		return
	}
	// On Windows there is nothing to lend.
	p, err := os.StartProcess(c.path, c.Argv, &os.ProcAttr{Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		started <- newError(err)
		return
	}
	c.pid = p.Pid
	started <- nil
	state, err := p.Wait()
	if err != nil {
		c.Log.Error("cannot wait for the command", "error", err)
		return
	}
	c.status.code = state.ExitCode()
	if err := c.status.job.limit(0); err != nil {
		c.Log.Warn("what the command left running will end with us", "error", err)
	}
	close(c.ended)
	c.stop(ErrEnded)
}

// Status returns the exit status of a command that was started.
func (c *Command) Status() int {
	<-c.ended
	return c.status.code
}

// askToEnd ends the command and all its descendants. A program that may have no console and no
// window cannot be asked here.
func (c *Command) askToEnd() { c.kill() }

func (c *Command) kill() {
	if none, err := c.status.job.killOthers(); err != nil {
		c.Log.Error("cannot end the command", "error", err)
	} else if none && !isClosed(c.allGone) {
		close(c.allGone)
	}
}

// handleSignals ends the wait on Ctrl-C, and when the user logs off. A command that runs gets
// both from the console itself.
func (c *Command) handleSignals() {
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range sigs {
			c.mu.Lock()
			if c.pid == 0 {
				c.stop(&locksmith.SignalError{Signal: s})
			}
			c.mu.Unlock()
		}
	}()
}

type signals struct{}

// CatchAll has nothing to do: all signals are caught.
func (c *Command) CatchAll() {}

// catchSoon has nothing to do: all signals are caught.
func (c *Command) catchSoon() {}

// become fails: on Windows one program cannot become another.
func (c *Command) become([]string, string) error {
	return newError(errors.New("on windows one program cannot become another"))
}

// readBeginning has nothing to do: Go knows that the start of a program waits.
func readBeginning(string) {}

// handleStops has nothing to do: Windows stops nobody.
func (c *Command) handleStops() {}

// EndedBy returns the signal that ended the wait, by which we should end; 0 for none.
func (c *Command) EndedBy(err error) syscall.Signal {
	var waiting *locksmith.SignalError
	if errors.As(err, &waiting) {
		return waiting.Signal.(syscall.Signal)
	}
	return 0
}

// RaiseDefault is not possible here.
func RaiseDefault(syscall.Signal) {}

// A job is a job object. Its processes, and all that they start, can be ended together.
type job struct{ handle windows.Handle }

// enterJob puts this process into a job whose processes die with it. The system kills them when
// it closes the last handle, which is ours.
func enterJob() (job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return job{}, os.NewSyscallError("CreateJobObject", err)
	}
	j := job{handle}
	if err := j.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return job{}, err
	}
	return j, os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(handle, windows.CurrentProcess()))
}

func (j job) limit(flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags}}
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return os.NewSyscallError("SetInformationJobObject", err)
}

// killOthers ends all processes of the job but this one, and reports whether there was none. A
// process that starts another at that moment may leave the other: call again.
func (j job) killOthers() (none bool, err error) {
	var list struct {
		assigned, listed uint32
		pids             [1024]uintptr
	}
	err = windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return false, os.NewSyscallError("QueryInformationJobObject", err)
	}
	none = true
	for _, pid := range list.pids[:list.listed] {
		if int(pid) == os.Getpid() {
			continue
		}
		none = false
		if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid)); err == nil {
			_, _ = windows.TerminateProcess(h, 1), windows.CloseHandle(h)
		}
	}
	return none, nil
}

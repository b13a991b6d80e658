package locksmith

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// waitStatus is an exit status, and the job that the command runs in.
type waitStatus struct {
	code int
	job  job
}

// outlivesUs reports that the system will not kill the command when we die: the job
// that it is in does.
func (c *Child) outlivesUs() bool { return false }

// startAndReap starts the command in a job object which we are in as well, so that all
// that descends from it is, from its first instruction. When we die the system closes
// the job, and thereby kills all of them.
func (c *Child) startAndReap(env []string, started chan<- error) {
	var err error
	if c.status.job, err = enterJob(); err != nil {
		started <- commandError(fmt.Errorf("make the command die with us: %w", err))
		return
	}
	p, err := os.StartProcess(c.path, c.Argv, &os.ProcAttr{Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		started <- commandError(err)
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
	c.stop(ErrChildEnded)
}

// Status returns the exit status of a command that was started.
func (c *Child) Status() int {
	<-c.ended
	return c.status.code
}

// askToEnd ends the command and all that descends from it: nothing asks a program
// here that need not have a console or a window.
func (c *Child) askToEnd() { c.kill() }

func (c *Child) kill() {
	if none, err := c.status.job.killOthers(); err != nil {
		c.Log.Error("cannot end the command", "error", err)
	} else if none && !isClosed(c.allGone) {
		close(c.allGone)
	}
}

// mindSignals ends the waiting on Ctrl-C, and when the user logs off. A command that
// runs gets them from the console itself.
func (c *Child) mindSignals() {
	sigs := make(chan os.Signal, 8)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range sigs {
			c.mu.Lock()
			if c.pid == 0 {
				c.stop(&SignalError{s})
			}
			c.mu.Unlock()
		}
	}()
}

// mindStops has nothing to do: nobody is stopped here.
func (c *Child) mindStops() {}

// EndedBy returns the signal that we should end by, that ended the waiting; 0 for none.
func (c *Child) EndedBy(err error) syscall.Signal {
	var waiting *SignalError
	if errors.As(err, &waiting) {
		return waiting.Signal.(syscall.Signal)
	}
	return 0
}

//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"locksmith/backends/process"
	"locksmith/protocol"
)

type waitStatus = syscall.WaitStatus

// startAndReap starts the command, and waits for it and for its orphaned descendants.
func (c *Command) startAndReap(env []string, started chan<- error) {
	// The command dies with the thread that starts it (PR_SET_PDEATHSIG(2const)). Therefore this
	// goroutine locks its thread for as long as it runs. It unlocks the thread when it returns: Go
	// would end a thread that is still locked, and start another.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := setSubreaper(); err != nil {
		c.Log.Debug("orphaned descendants will not be noticed", "error", err)
	}
	c.meetBystanders()
	attr := &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}, Sys: diesWithUs()}
	pid, err := c.forkExec(attr)
	if err != nil {
		started <- c.cannotRun(err, env)
		return
	}
	c.pid = pid
	started <- nil
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			close(c.allGone)
			return
		case status.Stopped():
			if got == pid {
				c.stopWith(status.StopSignal())
			}
		case got == pid:
			c.status = status
			close(c.ended)
			c.signals.soon.Stop() // nobody is left whom they concern
			c.stop(ErrEnded)
		default:
			process.Reaped(got, status)
		}
		// Wait4 fails when we have no child left. While we have one that is not the command's, it
		// does not.
		if (c.hadChildren || len(process.Own()) > 0) && isClosed(c.ended) && !c.anyLeft() {
			close(c.allGone)
			return
		}
	}
}

// readBeginning reads the beginning of a program that is started next. While execve(2) waits for a
// disk, Go runs nothing else in this process: the parent's thread waits in vfork(2), and Go does not
// know that it waits. A read is a wait that Go knows, so that meanwhile the lock is tended. It does
// not matter if the program cannot be read.
func readBeginning(path string) {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() { // the open of a FIFO would wait
		_, _ = process.ReadShort(path)
	}
}

func (c *Command) cannotRun(err error, env []string) error {
	return newError(explained(&os.PathError{Op: "exec", Path: c.path, Err: err}, env))
}

// forkExec starts the command, which alone inherits the lifeline and the descriptors of the lock.
func (c *Command) forkExec(attr *syscall.ProcAttr) (pid int, err error) {
	const own = false
	return process.Spawn(own, func() (pid int, err error) {
		if c.lifeline != nil {
			fd, err := c.lifeline.Lend()
			if err != nil {
				return 0, fmt.Errorf("give the command the lifeline: %w", err)
			}
			defer syscall.Close(fd)
		}
		giveBack, err := c.borrow()
		if err != nil {
			return 0, err
		}
		defer giveBack()
		err = c.withShell(func(path string, argv []string) (err error) {
			pid, err = syscall.ForkExec(path, argv, attr)
			return err
		})
		return pid, err
	})
}

// borrow gets descriptors of the lock, for the next program to inherit.
func (c *Command) borrow() (giveBack func(), err error) {
	if c.lend == nil {
		return func() {}, nil
	}
	lent, err := c.lend()
	giveBack = func() {
		for _, fd := range lent {
			_ = syscall.Close(fd)
		}
	}
	if err != nil {
		giveBack()
		return nil, fmt.Errorf("give the command the lock: %w", err)
	}
	return giveBack, nil
}

// shell runs scripts that do not name an interpreter.
const shell = "/bin/sh"

// withShell calls run with the command, or with sh for a script without a line of #!, as
// execvp(3) does.
func (c *Command) withShell(run func(path string, argv []string) error) error {
	err := run(c.path, c.Argv)
	if errors.Is(err, syscall.ENOEXEC) {
		err = run(shell, append([]string{shell, c.path}, c.Argv[1:]...))
	}
	return err
}

// become makes this process the command. It returns only if it fails, or if a signal came first. In
// both cases no program inherits the lock.
func (c *Command) become(env []string, lock string) error {
	giveBack, err := c.borrow()
	if err != nil {
		return c.cannotRun(err, env)
	}
	defer giveBack()
	c.letSignalsBe()
	if err := c.cancelled(lock); err != nil {
		return err
	}
	return c.cannotRun(c.withShell(func(path string, argv []string) error { return syscall.Exec(path, argv, env) }), env)
}

// signal signals the command alone.
func (c *Command) signal(s syscall.Signal) {
	if !isClosed(c.ended) { // its pid may be another's by now
		_ = syscall.Kill(c.pid, s)
	}
}

// maxVariable is the greatest length, with the zero at its end, of a string of the environment on
// Linux (MAX_ARG_STRLEN in execve(2)).
const maxVariable = 128 << 10

// explained adds to an error which limit was exceeded. A variable that is too long is one that we
// have added: nobody could have started us with such a variable.
func explained(err error, env []string) error {
	if errors.Is(err, syscall.EAGAIN) {
		return fmt.Errorf("%w: this user may have no more processes; end some, or raise the limit (ulimit -u)", err)
	}
	if errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("%w: raise the limit (ulimit -n)", err)
	}
	tooLong := func(variable string) bool { return len(variable) >= maxVariable }
	if errors.Is(err, syscall.E2BIG) && slices.ContainsFunc(env, tooLong) {
		return fmt.Errorf("%w: the addresses of its locks, which its environment has, are too long; lock fewer at a time, or shorten their paths", err)
	}
	return err
}

// Status waits until a command that was started has ended, and returns its exit status, or 128+n
// if signal n ended it.
func (c *Command) Status() int {
	<-c.ended
	if c.status.Signaled() {
		return protocol.BySignal + int(c.status.Signal())
	}
	return c.status.ExitStatus()
}

package process

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
)

// spawned are the programs that this process runs for purposes of its own.
var spawned = struct {
	sync.Mutex
	ends map[int]chan syscall.WaitStatus // by pid; has room for the one status
}{ends: map[int]chan syscall.WaitStatus{}}

// Spawn starts a program by calling start, which returns the pid. Programs are started one at a
// time, so that none inherits what was lent to another. A program of our own, such as an ssh, is
// not a user's command: Spawn notes its pid until Wait.
func Spawn(own bool, start func() (pid int, err error)) (pid int, err error) {
	spawned.Lock()
	defer spawned.Unlock()
	pid, err = start()
	if err == nil && own {
		spawned.ends[pid] = make(chan syscall.WaitStatus, 1)
	}
	return pid, err
}

// Start starts a program of our own.
func Start(cmd *exec.Cmd) error {
	_, err := Spawn(true, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	return err
}

// Wait is cmd.Wait for a program of our own. Who waits for any child, as run does, may have been
// told of its end instead of us, and passes that on (Reaped). A program that failed is an Ended.
func Wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	pid := cmd.Process.Pid
	if errors.Is(err, syscall.ECHILD) {
		spawned.Lock()
		end := spawned.ends[pid]
		spawned.Unlock()
		err = failure(<-end)
	}
	spawned.Lock()
	defer spawned.Unlock()
	delete(spawned.ends, pid) // it may soon belong to another process
	return err
}

// An Ended is the error of a program that has ended without success. exec.ExitError is one, too.
type Ended interface {
	error
	ExitCode() int // -1: a signal ended it
}

// failure is the error of a program that has ended with a status.
func failure(status syscall.WaitStatus) error {
	if status.Exited() && status.ExitStatus() == 0 {
		return nil
	}
	return ended{status}
}

type ended struct{ status syscall.WaitStatus }

func (e ended) Error() string {
	if e.status.Signaled() {
		return fmt.Sprintf("signal: %v", e.status.Signal())
	}
	return fmt.Sprintf("exit status %d", e.status.ExitStatus())
}

func (e ended) ExitCode() int { return e.status.ExitStatus() }

// Reaped notes with which status a child has ended that was waited for, for Wait if the child is a
// program of our own.
func Reaped(pid int, status syscall.WaitStatus) {
	spawned.Lock()
	defer spawned.Unlock()
	if end, own := spawned.ends[pid]; own && len(end) == 0 {
		end <- status
	}
}

// Own returns the pids of the programs of our own that may still run.
func Own() map[int]bool {
	spawned.Lock()
	defer spawned.Unlock()
	own := make(map[int]bool, len(spawned.ends))
	for pid, end := range spawned.ends {
		if len(end) == 0 {
			own[pid] = true
		}
	}
	return own
}

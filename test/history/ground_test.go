//go:build unix

package history

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A ground is where a fire burns.
type ground interface {
	// place makes a directory for a lock, and returns where the test has it, and where contenders do.
	place(t *testing.T) (here, seen string)
	// command is one of the contender of this number.
	command(contender int, argv ...string) *exec.Cmd
	// find returns the pids of a keeper and its worker, as the test has them: 0 if they have ended.
	// It is told which process was started, and the worker's own view of its pid, if it has begun.
	find(started, worker int) (keeper, pid int)
	// patience is how long nobody has the lock, and somebody wants it, until the operator comes.
	patience() time.Duration
}

// thisMachine is a ground where all share a disk, and see each other.
type thisMachine struct{}

func (thisMachine) place(t *testing.T) (here, seen string) {
	dir := t.TempDir()
	return dir, dir
}

func (thisMachine) command(_ int, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (thisMachine) find(started, worker int) (keeper, pid int) { return started, worker }

func (thisMachine) patience() time.Duration { return 40 * time.Second }

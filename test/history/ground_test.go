//go:build unix

package history

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A ground is where a fire burns: the machine or machines on which contenders run.
type ground interface {
	// place makes a directory for a lock. It returns the directory's path for the test, and its path
	// for contenders.
	place(t *testing.T) (here, seen string)
	// command returns a command that runs where the contender of this number does.
	command(contender int, argv ...string) *exec.Cmd
	// find returns the pids of a keeper and its worker as the test sees them: 0 if they have ended.
	// started is the process that was started, and worker is the worker's pid as the worker itself
	// sees it, if it has begun.
	find(started, worker int) (keeper, pid int)
	// patience is how long the lock may go without a holder, while somebody wants it, until the
	// operator comes.
	patience() time.Duration
}

// thisMachine is a ground where all contenders share a disk and see each other's processes.
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

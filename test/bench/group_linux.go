package main

import (
	"errors"
	"os"
	"syscall"
)

// apart puts a process in a group of its own, so that a terminal's Ctrl-C reaches us
// alone, and what scripts have started ends with them. It dies with us, too.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

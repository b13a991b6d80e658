package sftpserver

import "syscall"

func confinement() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // and then its mounts do not propagate
		Pdeathsig:    syscall.SIGKILL,
	}
}

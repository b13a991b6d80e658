package locksmith

import "syscall"

// diesWithUs makes the kernel kill the command when we die, however we do.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

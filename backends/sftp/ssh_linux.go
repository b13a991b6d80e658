package sftp

import "syscall"

// ownSession keeps the terminal's signals from an ssh, and the terminal: nobody is there to
// answer it. The kernel ends it when we die, however we do.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

package sftp

import "syscall"

// ownSession keeps the terminal, and its signals, from an ssh, because nobody is there to answer
// it. The kernel ends the ssh when we die, however we do.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

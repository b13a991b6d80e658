package etcdserver

import "syscall"

// diesWithUs makes a server end even when the test is killed.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

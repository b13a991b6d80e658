package s3server

import "syscall"

// diesWithUs makes a server end when the test is killed.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

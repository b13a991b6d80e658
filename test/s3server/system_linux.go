package s3server

import "syscall"

// diesWithUs ends a server also when the test is killed.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

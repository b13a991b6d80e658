package client

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// inherit has the command inherit a file, and returns what --events calls it.
func inherit(cmd *exec.Cmd, f *os.File) (string, error) {
	h := syscall.Handle(f.Fd())
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{h}}
	return fmt.Sprintf("fd:%d", h), syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT)
}

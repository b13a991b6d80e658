//go:build unix && !linux

package sftp

import "syscall"

// ownSession keeps the terminal's signals from an ssh, and the terminal: nobody is there to
// answer it. It ends when we do, because its standard input does.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

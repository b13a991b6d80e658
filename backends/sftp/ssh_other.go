//go:build unix && !linux

package sftp

import "syscall"

// ownSession keeps the terminal, and its signals, from an ssh, because nobody is there to answer
// it. The ssh ends when we do, because its standard input does.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

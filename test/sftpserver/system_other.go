//go:build !linux

package sftpserver

import "syscall"

func confinement() *syscall.SysProcAttr { return nil }

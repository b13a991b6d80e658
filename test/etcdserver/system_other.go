//go:build !linux

package etcdserver

import "syscall"

// diesWithUs is for Linux only.
func diesWithUs() *syscall.SysProcAttr { return nil }

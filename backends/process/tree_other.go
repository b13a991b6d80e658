//go:build !linux

package process

import "syscall"

// SignalDescendants knows no descendants here.
func SignalDescendants(syscall.Signal) {}

// StoppedInFork cannot be told here.
func StoppedInFork(int) bool { return false }

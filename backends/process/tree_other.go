//go:build !linux

package process

import (
	"errors"
	"syscall"
)

// SignalDescendants knows no descendants here.
func SignalDescendants(syscall.Signal) error { return errors.ErrUnsupported }

// CheckProc is for systems where we look at /proc.
func CheckProc() error { return nil }

// StoppedInFork cannot be told here.
func StoppedInFork(int) bool { return false }

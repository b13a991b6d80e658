//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

// SignalDescendants knows no descendants here.
func SignalDescendants(unix.Signal) {}

// StoppedInFork cannot be told here.
func StoppedInFork(int) bool { return false }

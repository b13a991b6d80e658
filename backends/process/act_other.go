//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

// ActOn is not to be had here: Go's handlers stay in the way.
func ActOn(unix.Signal) {}

// Ignores cannot be told here.
func Ignores(unix.Signal) bool { return false }

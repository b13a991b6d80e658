//go:build !linux

package process

import "syscall"

// ActOn is not to be had here: Go's handlers stay in the way.
func ActOn(syscall.Signal) {}

// Ignores cannot be told here.
func Ignores(syscall.Signal) bool { return false }

//go:build !linux

package programs

import "os"

func gainedCapabilities() bool { return false } // there are none

func isAncestor(pid int) bool { return pid == os.Getppid() }

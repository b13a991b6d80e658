//go:build unix

package doctor

import "golang.org/x/sys/unix"

func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

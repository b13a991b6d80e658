//go:build unix && !linux

package posix

import "golang.org/x/sys/unix"

const pathOnly = unix.O_RDONLY

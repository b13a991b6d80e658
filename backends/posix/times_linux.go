package posix

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Futimens sets the times of an open file; nil sets both to the file system's now.
// Without a path utimensat needs no /proc (utimensat(2), under futimens).
func Futimens(fd int, times *[2]unix.Timespec) error {
	return RetryEINTR(func() error {
		_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}

package posix

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pathOnly opens a file or directory that is not to be read, and need not be readable.
const pathOnly = unix.O_PATH

// readNames lists an open directory, and closes it.
func readNames(fd int, _ string) ([]string, error) {
	defer unix.Close(fd)
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// served reports whether an NFS server decides who we are.
func served(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && st.Type == unix.NFS_SUPER_MAGIC
}

// Futimens sets the times of an open file; nil sets both to the file system's now. utimensat
// without a path needs no /proc (utimensat(2), under futimens).
func Futimens(fd int, times *[2]unix.Timespec) error {
	return RetryEINTR(func() error {
		_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}

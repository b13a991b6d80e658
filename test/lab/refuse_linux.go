package lab

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusable are the system calls that old kernels lack, or containers refuse, by their names.
var refusable = map[string]uint32{
	"clone3":            unix.SYS_CLONE3,
	"close_range":       unix.SYS_CLOSE_RANGE,
	"faccessat2":        unix.SYS_FACCESSAT2,
	"openat2":           unix.SYS_OPENAT2,
	"pidfd_open":        unix.SYS_PIDFD_OPEN,
	"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL,
	"renameat2":         unix.SYS_RENAMEAT2,
	"statx":             unix.SYS_STATX,
}

// Refuse has the kernel answer some system calls of this thread, and of the program that it
// becomes, with an error: ENOSYS, as kernels do that lack the calls, or EPERM, as the seccomp
// profiles of containers do. The thread stays the caller's.
func Refuse(answer unix.Errno, calls ...string) error {
	runtime.LockOSThread()
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the call's number
	for _, call := range calls {
		number, known := refusable[call]
		if !known {
			return fmt.Errorf("no number is known of the system call %q", call)
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(answer)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

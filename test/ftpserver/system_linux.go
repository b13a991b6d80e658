package ftpserver

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func confinement() (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // and then its mounts do not propagate
		Pdeathsig:    syscall.SIGKILL,
	}, nil
}

// renameToNew is refused if anything exists at to, however late it came.
func renameToNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

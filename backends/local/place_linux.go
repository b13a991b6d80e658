package local

import (
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/posix"
	"locksmith/protocol"
)

func (l *Lock) checkFileSystem(dir string) error {
	var st unix.Statfs_t
	if err := posix.RetryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return backend.FileError(l.address, "look at file system of "+dir, err)
	}
	name := doctor.Remote(int64(st.Type))
	if name == "" {
		return nil
	}
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.address, Op: "look at file system of " + dir,
		Err:  fmt.Errorf("%s may be shared between machines, and their kernels do not know each other's locks", name),
		Hint: "use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it"}
}

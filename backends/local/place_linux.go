package local

import (
	"golang.org/x/sys/unix"

	"locksmith/backends/doctor"
	"locksmith/backends/posix"
)

func (l *Lock) checkFileSystem(dir string) error {
	op := "look at file system of " + dir
	var st unix.Statfs_t
	if err := posix.RetryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return l.fail(op, err)
	}
	name := doctor.Remote(int64(st.Type))
	if name == "" {
		return nil
	}
	return l.address.Unfit(op, name+" may be shared between machines, and their kernels do not know each other's locks",
		"use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it")
}

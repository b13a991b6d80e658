package mkdirlock

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
)

// RenameNew implements Disk. NFS, for one, cannot do it.
func (d *directory) RenameNew(_ context.Context, from, to string) error {
	err := posix.Below(d.path, from, func(source int, old string) error {
		return posix.Below(d.path, to, func(target int, name string) error {
			return unix.Renameat2(source, old, target, name, unix.RENAME_NOREPLACE)
		})
	})
	if backend.IsErrno(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return Outcome(err)
}

var _ Disk = (*directory)(nil)

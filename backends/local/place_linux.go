package local

import (
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
	"locksmith/protocol"
)

// shared maps the types of file systems that several machines may use at once
// (statfs(2)) to their names. FUSE is among them because it may be sshfs or
// virtiofs as well as a local disk.
var shared = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC:  "SMB",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.NCP_SUPER_MAGIC:   "NCP",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.V9FS_MAGIC:        "9P",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	0x01161970:             "GFS2",
	0x0BD00BD0:             "Lustre",
	0x47504653:             "GPFS",
}

func (l *Lock) checkFileSystem(dir string) error {
	var st unix.Statfs_t
	if err := posix.RetryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return backend.FileError(l.address, "look at file system of "+dir, err)
	}
	name, ok := shared[int64(st.Type)]
	if !ok {
		return nil
	}
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.address, Op: "look at file system of " + dir,
		Err:  fmt.Errorf("%s is shared between machines, and their kernels do not know each other's locks", name),
		Hint: "use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it"}
}

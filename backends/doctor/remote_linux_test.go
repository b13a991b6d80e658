package doctor

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemote: a type is refused by its number if and only if it is refused by its name.
func TestRemote(t *testing.T) {
	for kind, magic := range map[string]int64{
		"nfs4": unix.NFS_SUPER_MAGIC, "smb3": unix.SMB2_SUPER_MAGIC, "cifs": unix.CIFS_SUPER_MAGIC, "smbfs": unix.SMB_SUPER_MAGIC,
		"fuse.sshfs": unix.FUSE_SUPER_MAGIC, "virtiofs": unix.FUSE_SUPER_MAGIC, "9p": unix.V9FS_MAGIC, "ceph": unix.CEPH_SUPER_MAGIC,
		"coda": unix.CODA_SUPER_MAGIC, "ncpfs": unix.NCP_SUPER_MAGIC, "ocfs2": unix.OCFS2_SUPER_MAGIC, "afs": unix.AFS_FS_MAGIC,
		"afs (OpenAFS)": unix.AFS_SUPER_MAGIC, "vboxsf": 0x786F4256, "beegfs": 0x19830326, "orangefs": 0x20030528,
		"gfs2": 0x01161970, "lustre": 0x0BD00BD0, "gpfs": 0x47504653, "cifs (32 bits)": -0xACB2BE, // as int32
	} {
		if remoteName(magic) == "" || !(mount{kind: kind}).remote() {
			t.Errorf("%s, number %#x: by number it is %q, by name remote: %v", kind, magic, remoteName(magic), (mount{kind: kind}).remote())
		}
	}
	for kind, magic := range map[string]int64{"ext4": unix.EXT4_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC, "overlay": unix.OVERLAYFS_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC} {
		if remoteName(magic) != "" || (mount{kind: kind}).remote() {
			t.Errorf("a local disk, %s, counts as %q", kind, remoteName(magic))
		}
	}
}

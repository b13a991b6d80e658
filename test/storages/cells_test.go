//go:build linux

package storages

import "os"

// A storage is a server with a client and its options, or a file system of one machine.
type storage struct {
	name     string // on the page
	server   string // a file in guest/servers
	fs       string // of the disk that the server exports
	options  string // of the mount
	programs string // of the server and of the client, beside those in guest/needs
	local    bool   // one host has it
	// remounts: a client never finds its server again after the server was restarted.
	remounts bool
	// cannot says why the storage could not be measured so far; the page says more.
	cannot string
}

const smb, ninep = "smbd mount.cifs", "diod"

var storages = []storage{
	{name: "SMB 3.1.1", server: "samba", fs: "ext4", options: "vers=3.1.1", programs: smb},
	{name: "SMB 3.1.1, symbolic links", server: "samba", fs: "ext4", options: "vers=3.1.1,mfsymlinks", programs: smb},
	{name: "SMB 3.1.1, own connections", server: "samba", fs: "ext4", options: "vers=3.1.1,mfsymlinks,nosharesock", programs: smb},
	{name: "SMB 3.1.1, no cache", server: "samba", fs: "ext4", options: "vers=3.1.1,mfsymlinks,cache=none,actimeo=0", programs: smb},
	{name: "SMB 3.1.1, no leases", server: "samba", fs: "ext4", options: "vers=3.1.1,nolease", programs: smb},
	{name: "SMB 2.1", server: "samba", fs: "ext4", options: "vers=2.1", programs: smb},
	{name: "SMB 2.1, symbolic links", server: "samba", fs: "ext4", options: "vers=2.1,mfsymlinks", programs: smb},
	{name: "Ganesha, NFS 3", server: "ganesha", fs: "ext4", options: "vers=3,nolock", programs: "ganesha.nfsd mount.nfs"},
	{name: "Ganesha, NFS 4.2", server: "ganesha", fs: "ext4", options: "vers=4.2", programs: "ganesha.nfsd mount.nfs"},
	{name: "9p", server: "diod", fs: "ext4", options: "version=9p2000.L,access=any", programs: ninep, remounts: true},
	{name: "9p, mapped files", server: "diod", fs: "ext4", options: "version=9p2000.L,access=any,cache=mmap", programs: ninep, remounts: true},
	{name: "9p, loose cache", server: "diod", fs: "ext4", options: "version=9p2000.L,access=any,cache=loose", programs: ninep, remounts: true},
	{name: "GlusterFS, two copies", server: "gluster", fs: "ext4", programs: "glusterd gluster"},
	{name: "SSHFS", server: "sshd", fs: "ext4", options: "reconnect", programs: "sshd sshfs"},

	{name: "ext4", server: "local", fs: "ext4", local: true},
	{name: "XFS", server: "local", fs: "xfs", local: true},
	{name: "Btrfs", server: "local", fs: "btrfs", local: true},
	{name: "tmpfs", server: "local", fs: "tmpfs", local: true},
	{name: "FAT", server: "local", fs: "vfat", local: true},
	{name: "overlayfs", server: "overlay", fs: "ext4", local: true},
	{name: "bindfs", server: "bindfs", fs: "ext4", programs: "bindfs", local: true},
}

// A kind of lock, with what follows the path in its address.
type kind struct {
	scheme, style string
	tokens        bool
}

func (k kind) String() string { return k.scheme + k.style }

var kinds = []kind{{"nfs:", "", true}, {"mkdir:", "", false}, {"mkdir:", "?style=dir", true}, {"link:", "", false}, {"local:", "", false}}

// here returns the storage that the guest has.
func here() storage {
	for _, s := range storages {
		if s.name == os.Getenv("LAB_STORAGE") {
			return s
		}
	}
	panic("LAB_STORAGE")
}

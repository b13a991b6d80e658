package doctor

import (
	"slices"
	"strings"
)

// A remoteKind is a type of file system that other machines may use, too, or that may be
// anything, as FUSE.
type remoteKind struct {
	name   string  // in the table of mounts, or the beginning of it
	magics []int64 // of statfs(2), if it has its own
}

var remoteKinds = []remoteKind{
	{"nfs", []int64{0x6969}},
	{"smb", []int64{0x517B, 0xFE534D42}},
	{"cifs", []int64{0xFF534D42}},
	{"fuse", []int64{0x65735546}}, // virtiofs, davfs and glusterfs, too
	{"virtiofs", nil},
	{"davfs", nil},
	{"glusterfs", nil},
	{"9p", []int64{0x01021997}},
	{"ceph", []int64{0x00C36400}},
	{"afs", []int64{0x5346414F, 0x6B414653}}, // OpenAFS, and that of the kernel
	{"coda", []int64{0x73757245}},
	{"ncpfs", []int64{0x564C}},
	{"lustre", []int64{0x0BD00BD0}},
	{"gfs", []int64{0x01161970}},
	{"ocfs2", []int64{0x7461636F}},
	{"gpfs", []int64{0x47504653}},
	{"beegfs", []int64{0x19830326}},
	{"pvfs", []int64{0x20030528}},
	{"orangefs", []int64{0x20030528}},
	{"vboxsf", []int64{0x786F4256}},
	{"prl_fs", []int64{0x7C7C6673}},
}

// remoteName is the type of a file system that several machines may use at once, by its number
// in statfs(2); "" if it is this machine's own, as far as is known.
func remoteName(magic int64) string {
	magic &= 0xFFFFFFFF // it may have a sign and 32 bits
	i := slices.IndexFunc(remoteKinds, func(k remoteKind) bool { return slices.Contains(k.magics, magic) })
	if i < 0 {
		return ""
	}
	return remoteKinds[i].name
}

func (m mount) remote() bool {
	return slices.ContainsFunc(remoteKinds, func(k remoteKind) bool { return strings.HasPrefix(m.kind, k.name) }) ||
		strings.HasPrefix(m.source, "//") || strings.Contains(m.source, ":/")
}

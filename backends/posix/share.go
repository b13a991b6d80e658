//go:build unix

package posix

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Share lets those write to a directory of ours who may write to another,
// whatever our umask and group. It leaves out the sticky bit, which would keep
// people from breaking each other's dead. Its errors are the system's; EPERM if
// the directory is not ours and they may not.
//
// It works on a descriptor: who may write beside the directory could put a link in
// its place, and have us open something else to everybody.
func Share(path, like string) error { return ShareAt(unix.AT_FDCWD, path, like) }

// ShareAt is Share of a name in a directory.
func ShareAt(at int, name, like string) error {
	fd, err := openDirectory(at, name, unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var made, model unix.Stat_t
	if err := unix.Fstat(fd, &made); err != nil {
		return err
	}
	if err := unix.Stat(like, &model); err != nil {
		return err
	}
	wanted := uint32(model.Mode) & 0o777
	enough := uint32(made.Mode)&wanted == wanted
	ofGroup := wanted&unix.S_IWGRP == 0 || made.Gid == model.Gid
	switch {
	case enough && ofGroup:
		return nil
	case unix.Geteuid() == 0 && made.Uid != 0 && !served(fd):
		// The kernel would let us. Only where an NFS server holds us for somebody else
		// (exports(5), root_squash) can it be ours, and there the server decides.
		return unix.EPERM
	}
	if !ofGroup {
		// Who is not in that group may have to leave it at that.
		if err := unix.Fchown(fd, -1, int(model.Gid)); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	if enough {
		return nil
	}
	return unix.Fchmod(fd, uint32(made.Mode)&0o7777|wanted)
}

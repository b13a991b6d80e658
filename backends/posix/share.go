package posix

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Share lets those write to a directory of ours who may write to another,
// whatever our umask and group. It leaves out the sticky bit, which would keep
// people from breaking each other's dead. Its errors are the system's.
func Share(path, like string) error {
	var made, model unix.Stat_t
	if err := unix.Stat(path, &made); err != nil {
		return err
	}
	if err := unix.Stat(like, &model); err != nil {
		return err
	}
	wanted := uint32(model.Mode) & 0o777
	if wanted&unix.S_IWGRP != 0 && made.Gid != model.Gid {
		// Who is not in that group may have to leave it at that.
		if err := unix.Chown(path, -1, int(model.Gid)); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	if uint32(made.Mode)&wanted == wanted {
		return nil
	}
	return unix.Chmod(path, uint32(made.Mode)&0o7777|wanted)
}

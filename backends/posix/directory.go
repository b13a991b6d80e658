//go:build unix

package posix

import (
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// FollowDir is the path of a directory that the user named, even if it is a symbolic link, as
// /var/lock is.
func FollowDir(path string) string { return path + "/." }

// OpenParent opens the directory that holds name, and calls back with it and the last part of
// name. name is relative to dir, a directory that the user named. No part of name before the last
// may be a symbolic link (ENOTDIR). Otherwise whoever may write there could lead us elsewhere
// with a link, and have us make or remove what we may and it may not.
//
// As with a path, a call that meets a directory which was replaced meanwhile (ESTALE, on NFS) is
// made once more.
func OpenParent(dir, name string, call func(fd int, base string) error) error {
	parents, base := path.Split(name)
	if parents == "" {
		return call(unix.AT_FDCWD, dir+"/"+name)
	}
	err := openParent(dir, parents, base, call)
	if errors.Is(err, unix.ESTALE) {
		err = openParent(dir, parents, base, call)
	}
	return err
}

func openParent(dir, parents, base string, call func(fd int, base string) error) error {
	fd, err := open(unix.AT_FDCWD, dir, pathOnly|unix.O_DIRECTORY) // dir itself may be a link
	for parent := range strings.SplitSeq(strings.TrimSuffix(parents, "/"), "/") {
		if err != nil {
			return err
		}
		var next int
		next, err = openDirectory(fd, parent, pathOnly)
		_ = unix.Close(fd)
		fd = next
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return call(fd, base)
}

// openDirectory opens a directory that is not a symbolic link.
func openDirectory(at int, name string, flags int) (int, error) {
	return open(at, name, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW)
}

func open(at int, name string, flags int) (fd int, err error) {
	err = RetryEINTR(func() (err error) {
		fd, err = unix.Openat(at, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// List returns the names in a directory, without "." and "..". It opens the directory anew each
// time: on NFS, a rewound descriptor shows names up to half a minute old. It does not follow a
// symbolic link, unless the path is a FollowDir.
func List(path string) ([]string, error) { return ListAt(unix.AT_FDCWD, path) }

// ListAt is List for a name in the directory at.
func ListAt(at int, name string) ([]string, error) {
	fd, err := openDirectory(at, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return readNames(fd, name)
}

// Share opens a directory of ours to all users that may write to the directory like, whatever our
// umask and group. Our directory is name in the directory at. Share leaves out the sticky bit,
// which would keep users from breaking each other's dead holders. EPERM: the directory is not
// ours, and is not open to those users.
//
// It works on a descriptor: whoever may write beside the directory could put a link in its place,
// and have us open something else to everybody.
func Share(at int, name, like string) error { return share(at, name, like, 0o777, nil) }

// ShareNew is Share for a directory that we have just made. ENOTEMPTY: the directory has an entry
// that no user of it makes (made reports false). So it is another directory of ours, which
// somebody has renamed to this place.
func ShareNew(at int, name, like string, made func(entry string) bool) error {
	return share(at, name, like, 0o777, made)
}

// ShareWithGroup is ShareNew, but shares only with the group, which is that of the directory
// like.
func ShareWithGroup(at int, name, like string, made func(entry string) bool) error {
	return share(at, name, like, 0o070, made)
}

func share(at int, name, like string, bits uint32, made func(entry string) bool) error {
	fd, err := openDirectory(at, name, unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var it, model unix.Stat_t
	if err := unix.Fstat(fd, &it); err != nil {
		return err
	}
	if err := unix.Stat(like, &model); err != nil {
		return err
	}
	wanted := uint32(model.Mode) & bits
	enough := uint32(it.Mode)&wanted == wanted
	ofGroup := wanted&unix.S_IWGRP == 0 || it.Gid == model.Gid
	switch {
	case enough && ofGroup:
		return nil
	case unix.Geteuid() == 0 && it.Uid != 0 && !served(fd):
		// The kernel would let us. But the directory can be ours only where an NFS server takes
		// us for somebody else (exports(5), root_squash), and there the server decides.
		return unix.EPERM
	}
	if made != nil {
		strange := func(entry string) bool { return !made(entry) }
		if entries, err := ListAt(fd, "."); err != nil || slices.ContainsFunc(entries, strange) {
			return errors.Join(err, unix.ENOTEMPTY)
		}
	}
	if !ofGroup {
		// A process that is not in that group may not be able to change it.
		if err := unix.Fchown(fd, -1, int(model.Gid)); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	if enough {
		return nil
	}
	return unix.Fchmod(fd, uint32(it.Mode)&0o7777|wanted)
}

//go:build unix

package nfs

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const otherPlace = "choose another file system or server: locks are not safe there"

// directories: reservations are made, are refused if they are there, and are
// removed only by who removes them, and only when nobody is in them.
func (x *examiner) directories(context.Context) error {
	d, err := x.make()
	if err != nil {
		return err
	}
	again := x.dir.Mkdir(d)
	full := x.fresh()
	if err := errors.Join(x.dir.Mkdir(full), x.dir.Mkdir(full+"/in")); err != nil {
		return x.fail("make a directory", err)
	}
	kept := x.dir.Rmdir(full)
	inside := x.dir.Rmdir(full + "/in")
	first := x.dir.Rmdir(d)
	second := x.dir.Rmdir(d)
	for _, err := range []error{again, kept, inside, first, second} {
		if _, fatal := x.said("make and remove directories", err); fatal != nil {
			return fatal
		}
	}
	switch {
	case again == nil:
		x.tell.Unfit("make directories", "one that exists was made again", otherPlace)
	default:
		x.tell.Fit("make directories", "the second of two was refused")
	}
	switch {
	case first != nil || kept != nil && inside != nil:
		x.tell.Unfit("remove directories", "they can be made, but not removed: "+errors.Join(first, inside).Error(), "let this user remove directories, or no lock is ever released")
		return errEnough
	case kept == nil:
		x.tell.Unfit("remove directories", "one was removed with what was in it", otherPlace)
	case second == nil:
		x.tell.Unfit("remove directories", "one that is gone was removed again", otherPlace)
	default:
		x.tell.Fit("remove directories", "what is gone, or not empty, was refused")
	}
	return nil
}

// links: the lock is a symbolic link that is made once.
func (x *examiner) links(context.Context) error {
	const name, target = "symbolic links", "x.target of a lock"
	l := x.fresh()
	first := x.dir.Symlink(target, l)
	made, err := x.said("make a symbolic link", first)
	switch {
	case err != nil:
		return err
	case !made:
		x.tell.Unfit(name, "none can be made: "+first.Error(), "use a file system with symbolic links, or mkdir: instead of nfs:")
		return errEnough
	}
	again, err := x.said("make it again", x.dir.Symlink("other", l))
	if err != nil {
		return err
	}
	read, readErr := x.dir.Readlink(l)
	if _, err := x.said("read it", readErr); err != nil {
		return err
	}
	removed := x.dir.Unlink(l)
	if _, err := x.said("remove it", removed); err != nil {
		return err
	}
	switch {
	case again:
		x.tell.Unfit(name, "one that exists was made again: two would hold the lock", otherPlace)
	case readErr != nil || read != target:
		x.tell.Unfit(name, fmt.Sprintf("one reads %q (%v), not %q", read, readErr, target), otherPlace)
	case removed != nil:
		x.tell.Unfit(name, "they can be made, but not removed: "+removed.Error(), "let this user remove what he made")
	default:
		x.tell.Fit(name, "the second of two was refused, and the first reads as it was made")
	}
	return nil
}

// renames: a shared lock is made under another name first.
func (x *examiner) renames(context.Context) error {
	const name = "rename"
	from, err := x.make()
	if err != nil {
		return err
	}
	to := x.fresh()
	cause := x.dir.Rename(from, to)
	if _, err := x.said("rename a directory", cause); err != nil {
		return err
	}
	gone := x.dir.Rmdir(from)
	there := x.dir.Rmdir(to)
	switch {
	case cause != nil:
		x.tell.Unfit(name, "a directory cannot be renamed: "+cause.Error(), "let this user rename directories: shared locks need it")
	case !errors.Is(gone, unix.ENOENT) || there != nil:
		x.tell.Unfit(name, "after a rename the old name was still there, or the new one was not", otherPlace)
	default:
		x.tell.Fit(name, "a directory had its new name at once")
	}
	return nil
}

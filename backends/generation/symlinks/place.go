//go:build unix

package symlinks

import (
	"context"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
)

// CheckPlace refuses what cannot be a lock directory, before anything is made in it. kindOf returns
// the file type of what has a name, as in unix.S_IFDIR, or 0 if nothing has it. CheckPlace asks for
// two names only, because each may be a request; a wrong Generations shows when it is listed.
//
// nearest is the directory nearest to the reservations that is there: Reservations, the lock
// directory ("."), or the one in which that is to be made ("..").
func (l *Lock) CheckPlace(ctx context.Context, kindOf func(name string) (kind uint32, err error)) (nearest string, err error) {
	const op = "look at lock directory"
	kind, err := kindOf(".")
	switch {
	case err != nil:
		return "", l.Fail(op, err)
	case kind == 0:
		return "..", nil
	case kind == unix.S_IFLNK:
		return "", l.Address.Unfit(op, "the path is a symbolic link", "name the directory that it points to")
	case kind != unix.S_IFDIR:
		return "", l.Address.Unfit(op, "the path is not a directory", "choose another name")
	}
	kind, err = kindOf(Reservations)
	switch {
	case err != nil:
		return "", l.Fail("look at "+Reservations+" in the lock directory", err)
	case kind == 0:
		return ".", l.checkEmpty(ctx, op)
	case kind != unix.S_IFDIR:
		return "", l.Address.Unfit(op, Reservations+" in it is not a directory", "find out whose it is, or choose another name")
	}
	return Reservations, nil
}

// checkEmpty refuses a directory that holds more than a half-made lock. Names with a dot are the
// file system's, or the administrator's.
func (l *Lock) checkEmpty(ctx context.Context, op string) error {
	names, err := l.Dir.List(ctx, ".")
	if err != nil {
		return l.Fail("list the lock directory", err)
	}
	for _, name := range names {
		if name != Generations && name != Reservations && !strings.HasPrefix(name, ".") {
			return l.Address.Unfit(op, "there are other things in it, such as "+backend.Quoted(name),
				"name a directory that is for the lock alone; it is made if it is not there")
		}
	}
	return nil
}

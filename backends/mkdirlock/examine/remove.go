package examine

import (
	"context"
	"path"

	"locksmith/backends/doctor"
	"locksmith/backends/mkdirlock/dirs"
)

const allowRemoval = "let this user remove directories (on FTP servers: RMD), or no lock is ever released"

// Clear removes a directory of the checks that a killed examination left.
func Clear(ctx context.Context, dir dirs.Dir, name string) error {
	return doctor.Clear(ctx, scratch{dir}, name)
}

// mayRemoveIn removes the directory of the checks and makes another: that this user may remove
// directories from its own is not enough. A lock in dir style is never removed. So if it is
// missing, and what is beside it has to stay, mayRemoveIn makes the lock.
func (x *examiner) mayRemoveIn(ctx context.Context) error {
	kept, err := x.mustStay(ctx)
	switch {
	case err != nil:
		return err
	case kept == nil:
		return x.again(ctx, x.base)
	case x.place.DirStyle && x.base == ".":
		x.leave(ctx)
		return x.makeOuter(ctx)
	}
	x.cannotRemove(ctx, kept)
	x.stays, x.base = true, x.at
	return doctor.ErrEnough
}

// makeOuter makes the directory that a lock in dir style is in, and there the one of the checks.
func (x *examiner) makeOuter(ctx context.Context) error {
	cause := x.a.Mkdir(ctx, x.place.Name)
	if _, err := x.Said("make the lock directory", cause); err != nil {
		return err
	}
	if err := x.again(ctx, x.place.Name); err != nil {
		return err
	}
	x.Tell.Fit("make directories", x.shown(x.place.Name)+" was missing, and is there now: it is part of the lock, and what is beside it cannot be removed")
	return x.mayRemoveIn(ctx)
}

// again makes another directory for the checks where one has just been made.
func (x *examiner) again(ctx context.Context, base string) error {
	refused, err := x.makeIn(ctx, base)
	if refused != nil {
		return x.cannotMake(refused)
	}
	return err
}

// mustStay removes the directory of the checks. kept is why that is refused, or nil.
func (x *examiner) mustStay(ctx context.Context) (kept, err error) {
	cause := x.a.Rmdir(ctx, x.at)
	switch removed, err := x.Said("remove a directory", cause); {
	case err != nil:
		x.leave(ctx)
		return nil, err
	case removed:
		return nil, nil
	}
	there, err := x.place.Exists(ctx, x.a, x.at)
	switch {
	case err != nil:
		x.leave(ctx)
		return nil, x.Fail("look for a directory", err)
	case !there: // a server that crashed refuses what it has done
		return nil, nil
	}
	return cause, nil
}

// cannotRemove tells what to do about a place in which nothing can be removed: that depends
// on whether it is the place alone.
func (x *examiner) cannotRemove(ctx context.Context, cause error) {
	advice := allowRemoval
	inside := x.Fresh()
	if x.a.Mkdir(ctx, inside) == nil && x.a.Rmdir(ctx, inside) == nil {
		advice = "make a directory in it, which this user then owns, for locks to be in: " + x.shown("locks/"+path.Base(x.place.Name)) +
			"; or add ?style=dir to the address, for all who use the lock"
		if x.place.DirStyle {
			advice = "let this user remove directories there, or make another lock, which this user then owns"
		}
	}
	x.Tell.Fit("make directories", "in "+x.shown(x.base))
	x.Tell.Unfit("remove directories", "they can be made in "+x.shown(x.base)+", but not removed: "+cause.Error(), advice)
}

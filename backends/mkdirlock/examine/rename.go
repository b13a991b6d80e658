package examine

import (
	"context"
)

// reservation makes a directory with an entry in it, and a heartbeat in that, like a reservation
// that is to become a lock.
func (x *examiner) reservation(ctx context.Context, entry string) (string, error) {
	return x.New(ctx, entry, entry+"/1")
}

// renameToNew: a rename takes along what is in the directory, and a heartbeat is a rename inside
// it.
func (x *examiner) renameToNew(ctx context.Context) error {
	const name = "rename to a new name"
	from, err := x.reservation(ctx, "x")
	if err != nil {
		return err
	}
	to := x.Fresh()
	if err := x.Must("rename a directory", x.a.Rename(ctx, from, to), name, "a directory with something in it cannot be renamed: ",
		"let this user rename directories (on FTP servers: RNFR and RNTO): a lock is taken by a rename"); err != nil {
		return err
	}
	if err := x.Must("rename a directory in it", x.a.Rename(ctx, to+"/x/1", to+"/x/2"), "heartbeat", "after a rename, the one in it is refused: ",
		"let renames take along what is in a directory, and let this user rename that, too"); err != nil {
		return err
	}
	x.Tell.Fit(name, "what was in it moved along")
	x.Tell.Fit("heartbeat", "a directory in it was renamed, too")
	return nil
}

// renameOntoEmpty: a lock in plain style is taken by a rename onto the directory
// that its taker has just made.
func (x *examiner) renameOntoEmpty(ctx context.Context) error {
	const name = "rename onto an empty one"
	to := x.Fresh()
	from, err := x.reservation(ctx, "x")
	if err == nil {
		err = x.Make(ctx, to)
	}
	if err != nil {
		return err
	}
	cause := x.a.Rename(ctx, from, to)
	renamed, err := x.Said("rename a directory onto an empty one", cause)
	switch {
	case err != nil:
		return err
	case !renamed:
		x.Tell.Weak(name, "refused: "+cause.Error(), x.withoutOverwriting())
		return nil
	}
	switch there, err := x.Contains(ctx, to, "x"); {
	case err != nil:
		return err
	case !there:
		x.Tell.Unfit(name, "it succeeded, but what was in the directory is not in its new place", "use another server: a rename must replace the empty directory, or be refused")
		return nil
	}
	x.moveOnto = true
	x.Tell.Fit(name, "the empty one was replaced, what was in the other moved along")
	return nil
}

func (x *examiner) withoutOverwriting() string {
	if x.place.DirStyle {
		return "let the server rename onto empty directories (ProFTPD: AllowOverwrite on); without that locks are safe, but each one costs another command"
	}
	return "let the server rename onto empty directories (ProFTPD: AllowOverwrite on); without that locksmith's locks exclude each other, " +
		"but one of a plain script that makes the directory at the very moment of the server's own check may be replaced"
}

// renameOntoFull: a lock that has a holder cannot be taken.
func (x *examiner) renameOntoFull(ctx context.Context) error {
	const name = "rename onto a full one"
	to, err := x.reservation(ctx, "holder")
	if err != nil {
		return err
	}
	from, err := x.reservation(ctx, "x")
	if err != nil {
		return err
	}
	renamed, err := x.Said("rename a directory onto one that is not empty", x.a.Rename(ctx, from, to))
	if err != nil {
		return err
	}
	kept, err := x.Contains(ctx, to, "holder")
	if err != nil {
		return err
	}
	home, err := x.Contains(ctx, from, "x")
	if err != nil {
		return err
	}
	const advice = "use another server: a rename must be refused if there is something in the other directory"
	switch {
	case renamed:
		x.Tell.Unfit(name, "it succeeded: a lock would be taken from its holder", advice)
	case !kept || !home:
		x.Tell.Unfit(name, "it was refused, but what was in one of the two is gone", advice)
	default:
		x.Tell.Fit(name, "refused, and both are as they were")
	}
	return nil
}

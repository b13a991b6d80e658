package mkdirlock

import "context"

// exclusive: who makes a directory that is there is told so.
func (x *examiner) exclusive(ctx context.Context) error {
	const name = "exclusive create"
	d := x.fresh()
	first := x.a.Mkdir(ctx, d)
	switch made, err := x.said("make a directory in another", first); {
	case err != nil:
		return err
	case !made:
		x.tell.Unfit("make directories", "none can be made in "+x.shown(x.at)+": "+first.Error(), "let this user make directories in those that he made")
		return errEnough
	}
	x.tell.Fit("make directories", "in "+x.shown(x.base)+", and in those made there")
	second := x.a.Mkdir(ctx, d)
	switch made, err := x.said("make it again", second); {
	case err != nil:
		return err
	case made:
		x.tell.Unfit(name, "a directory that exists was made again: two would hold the lock", "use another server: MKD and mkdir must refuse what exists")
	default:
		x.tell.Fit(name, "the second of two was refused")
	}
	return nil
}

// removal: a lock that cannot be removed is never released, and who removed it is
// only known if nobody else is told that he did.
func (x *examiner) removal(ctx context.Context) error {
	const name = "remove directories"
	d := x.fresh()
	if err := x.make(ctx, d); err != nil {
		return err
	}
	first := x.a.Rmdir(ctx, d)
	switch removed, err := x.said("remove a directory", first); {
	case err != nil:
		return err
	case !removed:
		x.tell.Unfit(name, "they can be made, but not removed: "+first.Error(),
			"let this user remove directories (on FTP servers: RMD), or no lock is ever released")
		return errEnough
	}
	switch removed, err := x.said("remove it again", x.a.Rmdir(ctx, d)); {
	case err != nil:
		return err
	case removed:
		x.tell.Unfit(name, "one that is gone was removed again: of two who break a lock both would take it for their own",
			"use another server: RMD and rmdir must refuse what is not there")
	default:
		x.tell.Fit(name, "the second to remove one was refused")
	}
	return nil
}

// keepFull: a holder's entry in the lock is what keeps it from being removed.
func (x *examiner) keepFull(ctx context.Context) error {
	const name, advice = "keep what is not empty", "use another server: RMD and rmdir must leave what is not empty as it is"
	d := x.fresh()
	inside := d + "/inside"
	if err := x.make(ctx, d, inside); err != nil {
		return err
	}
	removed, err := x.said("remove a directory that is not empty", x.a.Rmdir(ctx, d))
	if err != nil {
		return err
	}
	cause := x.a.Rmdir(ctx, inside)
	there, err := x.said("remove a directory", cause)
	switch {
	case err != nil:
		return err
	case removed:
		x.tell.Unfit(name, "a directory was removed with what was in it: a lock would be taken from its holder", advice)
	case !there:
		x.tell.Unfit(name, "its removal was refused, but what was in it is gone: "+cause.Error(), advice)
	default:
		x.tell.Fit(name, "a directory with something in it was not removed")
	}
	return nil
}

package examine

import (
	"context"

	"locksmith/backends/mkdirlock/dirs"
)

// removeRead: in plain style a release removes the entry, which others may be reading, and right
// after it the lock. Where an entry stays until they are done, as with SMB, the lock is not empty
// then.
func (x *examiner) removeRead(ctx context.Context) error {
	const name = "remove what is read"
	r, can := x.a.(dirs.Reader)
	if !can || x.place.DirStyle {
		return nil
	}
	d, err := x.New(ctx, "x")
	if err != nil {
		return err
	}
	reading, err := r.Read(d + "/x")
	if err != nil {
		return x.Fail("list a directory", err)
	}
	defer reading.Close()
	for _, dir := range []string{d + "/x", d} {
		gone, err := x.Said("remove a directory", x.a.Rmdir(ctx, dir))
		switch {
		case err != nil:
			return err
		case !gone:
			x.Tell.Unfit(name, "a directory stays until nobody reads it any more: a release that comes before that leaves the lock behind, empty",
				"use mkdir: with ?style=dir")
			return nil
		}
	}
	x.Tell.Fit(name, "a directory that was being read went, and so did the one around it")
	return nil
}

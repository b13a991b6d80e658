package examine

import (
	"context"
	"path"
	"slices"

	"locksmith/backends/doctor"
	"locksmith/backends/mkdirlock/dirs"
)

// races runs a race over two connections.
func (x *examiner) races(ctx context.Context, r doctor.Race, call func(dir dirs.Dir, side int) error) error {
	if x.b == nil {
		return nil // told already
	}
	r.Connections, r.Advice = true, "use another server: two would hold the lock"
	r.Call = func(side int) error { return call([]dirs.Dir{x.a, x.b}[side], side) }
	return x.Race(ctx, r)
}

// raceToMake: of two who make a directory at the same time one succeeds.
func (x *examiner) raceToMake(ctx context.Context) error {
	var d string
	return x.races(ctx, doctor.Race{
		Name: "two make the same", Did: "made the same directory",
		Start: func() error { d = x.Fresh(); return nil },
		End: func(winners int) (_ string, err error) {
			if winners == 1 {
				_, err = x.Said("remove a directory", x.a.Rmdir(ctx, d)) // if not now, then with all the rest
			}
			return "", err
		},
	}, func(dir dirs.Dir, _ int) error { return dir.Mkdir(ctx, d) })
}

// raceToRemove: of two who remove a directory at the same time one succeeds.
func (x *examiner) raceToRemove(ctx context.Context) error {
	var d string
	return x.races(ctx, doctor.Race{
		Name: "two remove the same", Did: "removed the same directory",
		Start: func() (err error) { d, err = x.New(ctx); return err },
		End:   func(int) (string, error) { return "", nil },
	}, func(dir dirs.Dir, _ int) error { return dir.Rmdir(ctx, d) })
}

// raceToRename: of two who rename their directories onto the same one at the same
// time one succeeds.
func (x *examiner) raceToRename(ctx context.Context) error {
	if x.b == nil {
		return nil // told already
	}
	entries := []string{"xa", "xb"}
	var homes [2]string // of the reservation with that entry
	for side, entry := range entries {
		var err error
		if homes[side], err = x.reservation(ctx, entry); err != nil {
			return err
		}
	}
	var to string
	return x.races(ctx, doctor.Race{
		Name: "two rename to the same", Did: "renamed onto the same directory",
		Start: func() error {
			to = x.Fresh()
			if x.moveOnto {
				return x.Make(ctx, to)
			}
			return nil
		},
		End: func(winners int) (broken string, err error) {
			if winners == 0 {
				return "", nil
			}
			entry, err := x.entryOf(ctx, to)
			if err != nil {
				return "", err
			}
			winner := slices.Index(entries, entry)
			if winner < 0 {
				return " after two renames onto the same directory not just the entry of one was in it", nil
			}
			if err := x.a.Rename(ctx, to, homes[winner]); err != nil {
				return "", x.Fail("rename a directory back", err)
			}
			return "", nil
		},
	}, func(dir dirs.Dir, side int) error { return dir.Rename(ctx, homes[side], to) })
}

// entryOf returns the one name in a directory, "" if there are more or none.
func (x *examiner) entryOf(ctx context.Context, name string) (string, error) {
	names, err := x.Place.List(ctx, name)
	switch {
	case err != nil:
		return "", x.Fail("list a directory", err)
	case len(names) != 1:
		return "", nil
	}
	return path.Base(names[0]), nil
}

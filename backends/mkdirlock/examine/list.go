package examine

import (
	"context"
	"slices"
	"strings"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
)

const (
	// freshTime is how long to wait for a listing to become right.
	freshTime  = 5 * time.Second
	freshPause = 250 * time.Millisecond
)

// listing: the holder of a lock is found by listing directories.
func (x *examiner) listing(ctx context.Context) error {
	dialect, err := x.dialect(ctx)
	if err != nil {
		return err
	}
	views := []struct {
		name string
		dir  dirs.Dir
	}{{"own listing", x.a}, {"listing by another", x.b}}
	for _, v := range views {
		if v.dir == nil {
			continue // told already
		}
		late, err := x.lateness(ctx, v.dir)
		switch {
		case err != nil:
			return err
		case late == 0:
			x.Tell.Fit(v.name, "names come and go at once"+dialect)
		case x.place.DirStyle:
			x.Tell.Unfit(v.name, stale(late), "use another server or mount, without caches: who shares a lock would not see that another has it alone")
		default:
			x.Tell.Weak(v.name, stale(late), "use another server or mount, without caches: after a lost answer nobody can tell who has the lock")
		}
	}
	return nil
}

func stale(late time.Duration) string {
	if late >= freshTime {
		return "names that came or went were listed wrongly for " + freshTime.String() + " and more"
	}
	return "names that came or went were listed wrongly, for about " + late.Round(freshPause).String()
}

// lateness is how long a listing lacks a directory that was made, or shows one that was removed.
// Before each change there is a look, which a cache may remember.
func (x *examiner) lateness(ctx context.Context, dir dirs.Dir) (time.Duration, error) {
	d, err := x.New(ctx, "before")
	if err != nil {
		return 0, err
	}
	if _, err := x.since(ctx, dir, d, "before", true); err != nil {
		return 0, err
	}
	if err := x.Make(ctx, d+"/after"); err != nil {
		return 0, err
	}
	came, err := x.since(ctx, dir, d, "after", true)
	if err != nil {
		return 0, err
	}
	if err := x.Remove(ctx, d+"/after"); err != nil {
		return 0, err
	}
	went, err := x.since(ctx, dir, d, "after", false)
	return max(came, went), err
}

// since is how long it takes until a listing is right about a name: 0 if the first
// one is, freshTime if none.
func (x *examiner) since(ctx context.Context, dir dirs.Dir, in, name string, there bool) (time.Duration, error) {
	for waited := time.Duration(0); ; waited += freshPause {
		names, err := dir.List(ctx, in)
		if err != nil && !dirs.Refused(err) {
			return 0, x.Fail("list a directory", err)
		}
		if slices.Contains(names, name) == there || waited >= freshTime {
			return waited, nil
		}
		if err := clock.Pause(ctx, freshPause); err != nil {
			return 0, err
		}
	}
}

// dialect is how listings show a directory that is empty and one that is missing. Locks get along
// with all these ways.
func (x *examiner) dialect(ctx context.Context) (string, error) {
	d, err := x.New(ctx)
	if err != nil {
		return "", err
	}
	_, empty := x.a.List(ctx, d)
	_, missing := x.a.List(ctx, x.Fresh())
	var odd []string
	for _, err := range []error{empty, missing} {
		if err != nil && !dirs.Refused(err) {
			return "", x.Fail("list a directory", err)
		}
	}
	if empty != nil {
		odd = append(odd, "; to list an empty directory is refused")
	}
	if missing == nil {
		odd = append(odd, "; a missing directory is listed as an empty one")
	}
	return strings.Join(odd, ""), nil
}

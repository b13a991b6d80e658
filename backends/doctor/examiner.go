// Package doctor finds out whether a place can do what locks need. It has the checks that
// several backends make. It also has the facts about the file system under a directory, and says
// which of them are bad for one kind of lock and harmless for another (DirNeeds).
//
// A backend lends its Examiner a Place, which makes the same calls as its locks. It chooses the
// checks and their order, and what they tell in its words. What only one kind of lock needs is
// checked in that kind's package, with the same Examiner.
//
// Checks make names of their own and remove them again. They run on one host, so they do not
// show that another host sees the same.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"locksmith/backends/backend"
)

// ErrEnough is the error of a check whose finding makes further checks pointless.
var ErrEnough = errors.New("the other checks are pointless")

// A Place makes the calls that locks there make, once each. Names are below the place.
type Place interface {
	// Make makes a file or a directory that was not there.
	Make(ctx context.Context, name string) error
	// Remove removes a file or an empty directory.
	Remove(ctx context.Context, name string) error
	// List returns the names in a directory.
	List(ctx context.Context, dir string) ([]string, error)
}

// An Examiner makes checks of one place, one after the other.
type Examiner struct {
	Tell   backend.Tell
	Place  Place
	Thing  string // what Place makes: "file" or "directory"
	Prefix string // of the names that are made
	// Fail is the backend's error for a call that failed.
	Fail func(op string, err error) error
	// Unanswered reports whether an error says nothing about the place. Then the examination
	// fails with it. All other errors are findings.
	Unanswered func(err error) bool

	Made []string // all names that Fresh returned
}

// A Step makes a check, or several that belong together, and tells what it found. It
// fails if the place does not answer, or with ErrEnough.
type Step func(ctx context.Context) error

// Run makes the checks in their order, until one fails or has found enough, or ctx ends.
func Run(ctx context.Context, steps ...Step) error {
	for _, step := range steps {
		err := ctx.Err()
		if err == nil {
			err = step(ctx)
		}
		switch {
		case errors.Is(err, ErrEnough):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// Said sorts the outcome of a call: it happened; it did not, for a reason that is a finding; or
// the place does not answer, which is fatal.
func (x *Examiner) Said(op string, err error) (happened bool, fatal error) {
	if err != nil && x.Unanswered(err) {
		return false, x.Fail(op, err)
	}
	return err == nil, nil
}

// Must judges a call without which no lock works: if it did not happen, that is told, with the reason,
// and Must returns ErrEnough.
func (x *Examiner) Must(op string, cause error, name, cannot, advice string) error {
	happened, err := x.Said(op, cause)
	if err == nil && !happened {
		x.Tell.Unfit(name, cannot+cause.Error(), advice)
		err = ErrEnough
	}
	return err
}

// Fresh returns a new name.
func (x *Examiner) Fresh() string {
	name := fmt.Sprintf("%s%d", x.Prefix, len(x.Made))
	x.Made = append(x.Made, name)
	return name
}

// New makes a fresh name, and others in it, where making is known to work. A client of SMB may
// take the new name for a removed one that had the same number, and say that it is gone. Then
// New makes another.
func (x *Examiner) New(ctx context.Context, below ...string) (name string, err error) {
	for range 3 {
		name = x.Fresh()
		err = x.Make(ctx, name)
		for _, b := range below {
			if err == nil {
				err = x.Make(ctx, name+"/"+b)
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return name, err
}

// Make makes a name, where that is known to work.
func (x *Examiner) Make(ctx context.Context, name string) error {
	if err := x.Place.Make(ctx, name); err != nil {
		return x.Fail("make a "+x.Thing, err)
	}
	return nil
}

// Remove removes a name, where that is known to work.
func (x *Examiner) Remove(ctx context.Context, name string) error {
	if err := x.Place.Remove(ctx, name); err != nil {
		return x.Fail("remove a "+x.Thing, err)
	}
	return nil
}

// Contains reports whether a directory lists a name.
func (x *Examiner) Contains(ctx context.Context, dir, name string) (bool, error) {
	names, err := x.Place.List(ctx, dir)
	if err != nil {
		return false, x.Fail("list a directory", err)
	}
	return slices.Contains(names, name), nil
}

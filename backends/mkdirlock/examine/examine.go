// Package examine finds out whether a place can keep locks of directories. It makes the very
// calls that they make, over two connections.
package examine

import (
	"context"
	"errors"
	"path"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
)

// An examiner checks a place over two connections, in a directory of its own.
type examiner struct {
	doctor.Examiner
	place    Place
	a, b     dirs.Dir // b is nil if the server takes one connection only
	base     string   // the directory that at is in
	at       string   // the directory of the checks
	stays    bool     // at has to stay, and so would all else that is made beside it
	moveOnto bool     // a rename may replace an empty directory
}

// A Place is the place of a lock, and what the lock says of itself.
type Place struct {
	owner.Env
	NewDir   func() dirs.Dir
	Name     string       // of the lock in that directory
	DirStyle bool         // it is in dir style
	Address  backend.Name // for messages
	Fail     func(op string, err error) error
	Exists   func(ctx context.Context, dir dirs.Dir, name string) (bool, error)
}

// Examine tells what the place of a lock is fit for. The directory of the checks is beside the
// lock; in dir style, in it if it is there.
func (l Place) Examine(ctx context.Context, e backend.Examination, tell backend.Tell) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := l.NewDir()
	defer a.Close()
	x := &examiner{place: l, a: a, Examiner: doctor.Examiner{
		Tell: tell, Place: scratch{a}, Thing: "directory", Fail: l.Fail, Unanswered: unanswered,
	}}
	enough := x.enter(ctx)
	if enough != nil && enough != doctor.ErrEnough {
		return enough
	}
	rest, err := x.begin(ctx, e)
	if enough == nil {
		if err == nil {
			err = x.checks(ctx)
		}
	}
	if enough == nil || x.stays {
		x.leave(ctx)
	}
	if x.b != nil {
		x.b.Close()
	}
	if err == nil && rest != nil {
		err = rest()
	}
	return err
}

// checks are all those that need nothing but a Dir.
func (x *examiner) checks(ctx context.Context) error {
	return doctor.Run(ctx,
		x.exclusive,
		x.Removal(doctor.Removal{
			Name:   "remove directories",
			Allow:  allowRemoval,
			Twice:  "one that is gone was removed again: of two who break a lock both would take it for their own",
			Advice: "use another server: RMD and rmdir must refuse what is not there",
			Fit:    "the second to remove one was refused",
		}),
		x.keepFull,
		x.removeRead,
		x.renameToNew,
		x.renameOntoEmpty,
		x.renameOntoFull,
		x.listing,
		x.raceToMake,
		x.raceToRemove,
		x.raceToRename,
		x.times,
	)
}

// scratch is a doctor.Place.
type scratch struct{ dir dirs.Dir }

func (s scratch) Make(ctx context.Context, name string) error   { return s.dir.Mkdir(ctx, name) }
func (s scratch) Remove(ctx context.Context, name string) error { return s.dir.Rmdir(ctx, name) }

// List returns no names if the server refuses, which may mean that there are none.
func (s scratch) List(ctx context.Context, dir string) ([]string, error) {
	names, err := s.dir.List(ctx, dir)
	if dirs.Refused(err) {
		return nil, nil
	}
	return names, err
}

// unanswered reports that an error says nothing about what can be done in a place.
func unanswered(err error) bool {
	return dirs.Unclear(err) || errors.Is(err, dirs.ErrBusy) || errors.As(err, new(*backend.Error)) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// enter makes the directory of the checks.
func (x *examiner) enter(ctx context.Context) error {
	bases := []string{"."}
	if x.place.DirStyle {
		bases = []string{x.place.Name, x.place.Name, "."} // others may make it meanwhile
	}
	for i, base := range bases {
		refused, err := x.makeIn(ctx, base)
		switch {
		case err != nil:
			return err
		case refused == nil:
			return x.mayRemoveIn(ctx)
		}
		if base != "." {
			if there, err := x.place.Exists(ctx, x.a, base); err != nil || !there || i == 0 {
				continue // the next call tells what is wrong
			}
		}
		return x.cannotMake(refused)
	}
	return nil // not reached: "." ends the loop
}

// makeIn makes the directory of the checks in another one. refused is why that is refused, or nil.
func (x *examiner) makeIn(ctx context.Context, base string) (refused, err error) {
	x.base, x.at = base, path.Join(base, labels.ScratchPrefix+x.place.NewID())
	x.Prefix = x.at + "/d"
	cause := x.a.Mkdir(ctx, x.at)
	made, err := x.Said("make a directory", cause)
	switch {
	case err != nil && dirs.Unclear(cause):
		x.leave(ctx)
		return nil, err
	case err != nil, made:
		return nil, err
	}
	return cause, nil
}

func (x *examiner) cannotMake(cause error) error {
	x.Tell.Unfit("make directories", cause.Error(),
		"make "+x.shown(x.base)+" if it is missing, and let this user make directories in it; or choose another place")
	return doctor.ErrEnough
}

// leave removes the directory of the checks.
func (x *examiner) leave(ctx context.Context) { x.Clean(ctx, x.at, x.shown(x.at)) }

// begin makes the second connection, and the checks that only this kind of place
// has.
func (x *examiner) begin(ctx context.Context, e backend.Examination) (rest func() error, err error) {
	if err := x.connect(ctx); err != nil {
		return nil, err
	}
	if p, ok := x.a.(dirs.Examiner); ok {
		return p.Examine(ctx, x.base, e, x.Tell)
	}
	return nil, nil
}

func (x *examiner) connect(ctx context.Context) error {
	b := x.place.NewDir()
	_, err := b.List(ctx, ".")
	if _, fatal := x.Said("list a directory over a second connection", err); fatal != nil {
		b.Close()
		if !errors.Is(err, dirs.ErrBusy) {
			return fatal
		}
		x.Tell.Unknown("two connections", backend.Reason(err), "let the server take several connections from one address at a time: each helper needs one")
		return nil
	}
	x.b = b
	return nil
}

// shown is where a name is, for people.
func (x *examiner) shown(name string) string {
	place, _, _ := strings.Cut(string(x.place.Address), "?")
	place = place[:strings.LastIndexByte(place, '/')+1]
	if name == "." {
		return place
	}
	return place + name
}

// exclusive: whoever makes a directory that exists is told that it exists.
func (x *examiner) exclusive(ctx context.Context) error {
	d := x.Fresh()
	if err := x.Must("make a directory in another", x.a.Mkdir(ctx, d), "make directories", "none can be made in "+x.shown(x.at)+": ",
		"let this user make directories in those that he made"); err != nil {
		return err
	}
	x.Tell.Fit("make directories", "in "+x.shown(x.base)+", and in those made there")
	return x.MadeAgain(doctor.Exclusive{
		Name: "exclusive create", Again: "a directory that exists was made again: two would hold the lock",
		Advice: "use another server: MKD and mkdir must refuse what exists",
	}, x.a.Mkdir(ctx, d))
}

// keepFull: a holder's entry in the lock's directory is what keeps that from being removed.
func (x *examiner) keepFull(ctx context.Context) error {
	const name, advice = "keep what is not empty", "use another server: RMD and rmdir must leave what is not empty as it is"
	full, err := x.RemoveFull(ctx)
	switch {
	case err != nil:
		return err
	case full.Removed:
		x.Tell.Unfit(name, "a directory was removed with what was in it: a lock would be taken from its holder", advice)
	case full.Inside != nil:
		x.Tell.Unfit(name, "its removal was refused, but what was in it is gone: "+full.Inside.Error(), advice)
	default:
		x.Tell.Fit(name, "a directory with something in it was not removed")
	}
	return nil
}

package mkdirlock

import (
	"context"
	"errors"
	"path"
	"time"

	"locksmith/backends/backend"
)

// A Peculiar Dir has checks of its own, for what only its kind of place has.
type Peculiar interface {
	Dir
	// Examine tells of them, for the directory named. What takes long goes on beside
	// the other checks: the function that it returns, if any, is called after them
	// and tells of it, or is not called at all when ctx ends before.
	Examine(ctx context.Context, name string, e backend.Examination, tell backend.Tell) (rest func() error, err error)
}

const (
	scratchPrefix = "doctor."
	// cleanTime bounds the removal of what the checks made; after ctx has ended,
	// graceTime does.
	cleanTime = time.Minute
)

// errEnough: what was found makes the other checks pointless.
var errEnough = errors.New("the other checks are pointless")

// An examiner checks a place over two connections, in a directory of its own.
type examiner struct {
	lock     *Lock
	tell     backend.Tell
	a, b     Dir    // b is nil if the server takes one connection only
	base     string // the directory in which ours is
	at       string // ours
	moveOnto bool   // a rename may replace an empty directory
	numbers  int
}

// Examine implements backend.Backend. Its directory is beside the lock, or in it in
// the style of directories, if it is there.
func (l *Lock) Examine(ctx context.Context, e backend.Examination, tell backend.Tell) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x := &examiner{lock: l, tell: tell, a: l.NewDir()}
	defer x.a.Close()
	enough := x.enter(ctx)
	if enough != nil && enough != errEnough {
		return enough
	}
	rest, err := x.begin(ctx, e)
	if enough == nil {
		if err == nil {
			err = x.checks(ctx)
		}
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

// enter makes the directory of the checks.
func (x *examiner) enter(ctx context.Context) error {
	name, bases := scratchPrefix+x.lock.NewID(), []string{"."}
	if x.lock.Style == TreeStyle {
		bases = []string{x.lock.Name, "."}
	}
	for _, base := range bases {
		x.base, x.at = base, path.Join(base, name)
		cause := x.a.Mkdir(ctx, x.at)
		made, err := x.said("make a directory", cause)
		switch {
		case err != nil:
			if unclear(cause) {
				x.leave(ctx)
			}
			return err
		case made:
			return nil
		}
		if base != "." {
			if there, err := x.lock.contains(ctx, x.a, ".", base); err != nil || !there {
				continue // the next call tells what is wrong
			}
		}
		x.tell.Unfit("make directories", cause.Error(),
			"make "+x.shown(base)+" if it is missing, and let this user make directories in it; or choose another place")
		return errEnough
	}
	return nil // not reached: "." ends the loop
}

// begin makes the second connection, and the checks that only this kind of place
// has.
func (x *examiner) begin(ctx context.Context, e backend.Examination) (rest func() error, err error) {
	if err := x.connect(ctx); err != nil {
		return nil, err
	}
	if p, ok := x.a.(Peculiar); ok {
		return p.Examine(ctx, x.base, e, x.tell)
	}
	return nil, nil
}

func (x *examiner) connect(ctx context.Context) error {
	b := x.lock.NewDir()
	_, err := b.List(ctx, ".")
	if _, fatal := x.said("list a directory over a second connection", err); fatal != nil {
		b.Close()
		if !errors.Is(err, ErrBusy) {
			return fatal
		}
		x.tell.Unknown("two connections", backend.Reason(err), "let the server take several connections from one address at a time: each helper needs one")
		return nil
	}
	x.b = b
	return nil
}

func (x *examiner) checks(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		x.exclusive, x.removal, x.keepFull,
		x.renameToNew, x.renameOntoEmpty, x.renameOntoFull,
		x.listing, x.raceToMake, x.raceToRemove, x.raceToRename, x.times,
	} {
		if err := check(ctx); err == errEnough {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

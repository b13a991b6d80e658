//go:build unix

package symlinks

import (
	"context"
	"errors"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/shelf"
	"locksmith/backends/tokens"
)

var _ backend.Remover = (*Lock)(nil)

// barPrefix begins the target of a bar, a name that does not exist.
const barPrefix = "removed."

// Remove implements backend.Remover. It removes only what is empty, until nobody can be on the
// way to a generation:
//
//	1  release our reservation, and if nobody else has come, forget what happened
//	2  rmdir R: it stays if a locker that is on the way has something in it
//	3  bar R with a symbolic link of our own: that fails if a locker has made R anew
//	   since 2; a locker that comes from now on gets an error
//	4  remove the generations and G
//	5  remove the bar, and the lock's directory
//
// After 3 nobody else may go on with our work: a late process would remove generations of those
// that began anew. If we die there, the bar stays.
//
// No order of steps prevents one case. A locker is stopped between reading a generation and
// making the next, is broken, and goes on after others have begun anew. It makes a number that
// is too high for them.
func (l *Lock) Remove(ctx context.Context, held backend.Hold) error {
	if h, ours := held.(*hold); ours {
		l, h.removes = h.Mine.lock, true
	}
	defer l.rest(false)
	if err := errors.Join(checked(ctx, l.CheckRemoval), held.Release(ctx)); err != nil {
		return err
	}
	names, err := l.names(ctx, Reservations)
	switch {
	case err != nil && !absent(err):
		return l.Fail("list the reservations", err)
	case len(slipsIn(names, tokens.Max)) < len(names):
		return generation.InUse(l.Address)
	}
	if err := shelf.Forget(ctx, &slips{lock: l}, slipsIn(names, tokens.Max)); err != nil {
		return err
	}
	err = l.Dir.Rmdir(ctx, Reservations)
	switch {
	case notEmpty(err):
		return generation.InUse(l.Address)
	case err != nil && !absent(err):
		return l.Fail("remove the reservations", err)
	}
	if err := l.bar(ctx, barPrefix+held.ID()); err != nil {
		return err
	}
	if err := l.removeGenerations(ctx); err != nil {
		return err
	}
	if err := l.Dir.Unlink(ctx, Reservations); err != nil && !absent(err) {
		return l.Fail("remove the bar", err)
	}
	if err := l.Dir.Rmdir(ctx, "."); err != nil && !absent(err) {
		if notEmpty(err) {
			return generation.InUse(l.Address)
		}
		return l.Fail("remove the lock directory", err)
	}
	return nil
}

// bar is step 3.
func (l *Lock) bar(ctx context.Context, target string) error {
	err := l.Dir.Symlink(ctx, target, Reservations)
	if err == nil {
		return nil
	}
	there, unread := l.Dir.Readlink(ctx, Reservations)
	switch {
	case unread == nil && there == target: // ours, after a lost answer
		return nil
	case notEmpty(err):
		return generation.InUse(l.Address)
	}
	return l.Fail("bar the reservations", err)
}

// removeGenerations is step 4. It may meet another locker's probe.
func (l *Lock) removeGenerations(ctx context.Context) (err error) {
	for range backend.Races {
		var names []string
		names, err = l.names(ctx, Generations)
		if absent(err) {
			return nil
		}
		if err != nil {
			return l.Fail("list generations", err)
		}
		for _, name := range names {
			err := l.removeGeneration(ctx, name)
			if err != nil && !absent(err) {
				return l.Fail("remove generation "+backend.Quoted(name), err)
			}
		}
		if err = l.Dir.Rmdir(ctx, Generations); err == nil || absent(err) {
			return nil
		}
		if !notEmpty(err) {
			break
		}
	}
	return l.Fail("remove the generations", err)
}

func (l *Lock) removeGeneration(ctx context.Context, name string) error {
	path := Generations + "/" + name
	if _, ok := parseLockName(name); ok {
		return l.Dir.Unlink(ctx, path)
	}
	if t, ok := strings.CutPrefix(name, probePrefix); ok {
		if _, ok := parseTicket(t); ok {
			return l.Dir.Rmdir(ctx, path)
		}
	}
	return errors.New("it is not ours")
}

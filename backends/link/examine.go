//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

const otherPlace = "use mkdir: instead, or another file system: locks like this are not safe there"

// errEnough: what was found makes the other checks pointless.
var errEnough = errors.New("the other checks are pointless")

// A peculiar FS has checks of its own.
type peculiar interface{ examine(backend.Tell) }

func (d *directory) examine(tell backend.Tell) {
	doctor.DirNeeds{Removal: true}.Examine(d.path, tell)
}

// An examiner checks a place with files of its own, which are called so that nobody
// takes them for anything.
type examiner struct {
	lock *Lock
	fs   FS
	tell backend.Tell
	made []string
	base string
}

// Examine implements backend.Backend. It works with files beside the lock.
func (l *Lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	if admitted, err := l.admits(tell); !admitted {
		return err
	}
	x := &examiner{lock: l, fs: l.NewFS(), tell: tell, base: ".doctor." + owner.NewID()}
	defer x.fs.Close()
	if p, ok := x.fs.(peculiar); ok {
		p.examine(tell)
	}
	err := x.examine(ctx)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// admits repeats what every attempt asks.
func (l *Lock) admits(tell backend.Tell) (bool, error) {
	if l.Check == nil {
		return true, nil
	}
	err := l.Check()
	var e *backend.Error
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &e) && e.Code != protocol.Unreachable:
		tell.Unfit("place", e.Op+": "+e.Err.Error(), e.Hint)
		return false, nil
	}
	return false, err
}

func (x *examiner) examine(ctx context.Context) error {
	defer x.leave()
	for _, check := range []func(context.Context) error{
		x.creation, x.links, x.removal, x.openFile, x.heartbeat, x.listing, x.race,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fresh is a new name, to be removed in the end.
func (x *examiner) fresh() string {
	name := fmt.Sprintf("%s.%d", x.base, len(x.made))
	x.made = append(x.made, name)
	return name
}

// create makes a file, which is known to work.
func (x *examiner) create() (string, error) {
	name := x.fresh()
	if err := x.fs.Create(name, "0\n"); err != nil {
		return "", x.lock.fail("make a file", err)
	}
	return name, nil
}

// createOpen makes a file and opens it, as a holder does.
func (x *examiner) createOpen() (name string, file File, err error) {
	if name, err = x.create(); err != nil {
		return "", nil, err
	}
	if file, err = x.fs.Open(name); err != nil {
		return "", nil, x.lock.fail("open a file", err)
	}
	return name, file, nil
}

// said is fatal where the place does not answer. What it answers is a finding.
func (x *examiner) said(op string, err error) (fatal error) {
	if backend.Unclear(err) {
		return x.lock.fail(op, err)
	}
	return nil
}

// leave removes what the checks made.
func (x *examiner) leave() {
	for _, name := range x.made {
		if err := x.fs.Unlink(name); err != nil && !absent(err) {
			x.tell.Weak("clean up", name+" stays: "+err.Error(), "remove it")
		}
	}
}

// creation: claims are made where there was nothing.
func (x *examiner) creation(context.Context) error {
	const name = "exclusive create"
	f := x.fresh()
	err := x.fs.Create(f, "0\n")
	if fatal := x.said("make a file", err); fatal != nil {
		return fatal
	}
	if err != nil {
		e := backend.FileError(x.lock.Address, "make a file", err)
		x.tell.Unfit(name, "a file cannot be made: "+e.Err.Error(), e.Hint)
		return errEnough
	}
	switch err := x.fs.Create(f, "1\n"); {
	case err == nil:
		x.tell.Unfit(name, "a file that exists was made again", otherPlace)
	case !errors.Is(err, unix.EEXIST):
		x.tell.Unfit(name, "to make what exists was refused, but not because it exists: "+err.Error(), otherPlace)
	default:
		x.tell.Fit(name, "the second of two was refused")
	}
	return nil
}

// removal: a lock that is gone can be removed by nobody.
func (x *examiner) removal(context.Context) error {
	const name = "remove files"
	f, err := x.create()
	if err != nil {
		return err
	}
	first := x.fs.Unlink(f)
	if fatal := x.said("remove a file", first); fatal != nil {
		return fatal
	}
	second := x.fs.Unlink(f)
	switch {
	case first != nil:
		x.tell.Unfit(name, "they can be made, but not removed: "+first.Error(), "let this user remove what he made there, or no lock is ever released")
		return errEnough
	case second == nil:
		x.tell.Unfit(name, "one that is gone was removed again", otherPlace)
	default:
		x.tell.Fit(name, "what is gone was refused")
	}
	return nil
}

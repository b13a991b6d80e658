//go:build unix

package nfs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/nfs/generation"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// scratchPrefix begins with a dot: such names in a lock directory are nobody's
// business.
const scratchPrefix = ".doctor."

// errEnough: what was found makes the other checks pointless.
var errEnough = errors.New("the other checks are pointless")

// An examiner checks a place in a directory of its own.
type examiner struct {
	dir     generation.Dir // the lock directory if it is there, else the one above it
	at      string         // ours in it
	where   string         // dir, for people
	tell    backend.Tell
	fail    func(op string, err error) error
	numbers int
}

// Examine implements backend.Backend.
func (l *lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	if err := l.check(); err != nil {
		var e *backend.Error
		if errors.As(err, &e) && (e.Code == protocol.CannotCreate || e.Code == protocol.Permission) {
			tell.Unfit("lock directory", e.Op+": "+e.Err.Error(), e.Hint)
			return nil
		}
		return err
	}
	base := l.path
	if err := unix.Access(base, unix.F_OK); err != nil {
		base = filepath.Dir(base)
	}
	doctor.DirNeeds{}.Examine(base, tell)
	x := &examiner{dir: &directory{path: base}, at: scratchPrefix + owner.NewID(), where: base, tell: tell, fail: l.Fail}
	return x.examine(ctx)
}

func (x *examiner) examine(ctx context.Context) error {
	cause := x.dir.Mkdir(x.at)
	made, err := x.said("make a directory", cause)
	if !made && err == nil {
		x.tell.Unfit("make directories", x.where+": "+cause.Error(), "let this user make directories there, or choose another place")
		return nil
	}
	defer x.leave() // after an unclear answer, too
	for _, check := range []func(context.Context) error{
		x.directories, x.links, x.renames, x.heartbeats, x.clock, x.listing, x.race,
	} {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = check(ctx)
		}
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// said sorts the outcome of a call: it happened; it did not, for a reason that is
// a finding; or the place does not answer.
func (x *examiner) said(op string, err error) (happened bool, fatal error) {
	if backend.Unclear(err) {
		return false, x.fail(op, err)
	}
	return err == nil, nil
}

// fresh is a new name among those of the checks.
func (x *examiner) fresh() string {
	x.numbers++
	return fmt.Sprintf("%s/d%d", x.at, x.numbers)
}

// make makes a directory, which is known to work.
func (x *examiner) make() (string, error) {
	d := x.fresh()
	if err := x.dir.Mkdir(d); err != nil {
		return "", x.fail("make a directory", err)
	}
	return d, nil
}

// leave removes what the checks made. It is all directly in one directory.
func (x *examiner) leave() {
	var err error
	for range 3 { // on NFS a listing may miss what was just made
		names, _ := x.dir.List(x.at) // what it misses keeps the removal from working
		for _, name := range names {
			if x.dir.Rmdir(x.at+"/"+name) != nil {
				_ = x.dir.Unlink(x.at + "/" + name)
			}
		}
		if err = x.dir.Rmdir(x.at); err == nil || errors.Is(err, unix.ENOENT) {
			return
		}
	}
	x.tell.Weak("clean up", x.where+"/"+x.at+" stays: "+err.Error(), "remove it, with what is in it")
}

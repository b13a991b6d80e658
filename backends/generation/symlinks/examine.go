//go:build unix

package symlinks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/owner"
)

const otherPlace = "choose another file system or server: locks are not safe there"

// An examiner checks a place in a directory of its own.
type examiner struct {
	doctor.Examiner
	dir   Dir    // the lock directory if it is there, else the one above it
	at    string // the directory of the checks, in dir
	where string // dir, for people
}

func newExaminer(dir Dir, where string, tell backend.Tell, fail func(string, error) error) *examiner {
	at := ".doctor." + owner.NewID() // with a dot, because lockers ignore such names in a lock directory
	return &examiner{dir: dir, at: at, where: where, Examiner: doctor.Examiner{
		Tell: tell, Place: names{dir}, Thing: "directory", Prefix: at + "/d",
		Fail: fail, Unanswered: backend.Unclear,
	}}
}

// names is a doctor.Place.
type names struct{ dir Dir }

func (n names) Make(ctx context.Context, name string) error { return n.dir.Mkdir(ctx, name) }

func (n names) List(ctx context.Context, dir string) ([]string, error) { return n.dir.List(ctx, dir) }

// Remove removes a directory, or a symbolic link that a check left.
func (n names) Remove(ctx context.Context, name string) error {
	err := n.dir.Rmdir(ctx, name)
	if errors.Is(err, unix.ENOTDIR) {
		return n.dir.Unlink(ctx, name)
	}
	return err
}

// Examine finds out whether a place is fit for such locks, for backend.Backend. It works in a
// directory of its own in dir, which people know as where.
func Examine(ctx context.Context, dir Dir, where string, tell backend.Tell, fail func(op string, err error) error) error {
	return newExaminer(dir, where, tell, fail).examine(ctx)
}

func (x *examiner) examine(ctx context.Context) error {
	cause := x.dir.Mkdir(ctx, x.at)
	made, err := x.Said("make a directory", cause)
	if !made && err == nil {
		x.Tell.Unfit("make directories", x.where+": "+cause.Error(), "let this user make directories there, or choose another place")
		return nil
	}
	defer x.Clean(ctx, x.at, x.where+"/"+x.at) // after an unclear answer, too
	if err != nil {
		return err
	}
	return doctor.Run(ctx,
		x.Exclusive(doctor.Exclusive{Name: "make directories", Again: "one that exists was made again", Advice: otherPlace}),
		x.Removal(doctor.Removal{
			Name: "remove directories", Allow: "let this user remove directories, or no lock is ever released",
			Twice: "one that is gone was removed again", Full: "one was removed with what was in it", Advice: otherPlace,
			Fit: "what is gone, or not empty, was refused",
		}),
		x.links,
		x.renames,
		x.heartbeats,
		x.clock,
		x.Listing(backend.Unfit, otherPlace), // the highest number in a listing says who has the lock
		x.race,
	)
}

// OddTarget is a target that some servers change: it leads elsewhere, and is not clean.
const OddTarget = "../a//b/./c/"

// links checks that a symbolic link, such as the lock is, can be made only once.
func (x *examiner) links(ctx context.Context) error {
	const name, target = "symbolic links", OddTarget
	l := x.Fresh()
	if err := x.Must("make a symbolic link", x.dir.Symlink(ctx, target, l), name, "none can be made: ",
		"use a file system with symbolic links, or mkdir: instead of nfs:"); err != nil {
		return err
	}
	again, err := x.Said("make it again", x.dir.Symlink(ctx, "other", l))
	if err != nil {
		return err
	}
	read, readErr := x.dir.Readlink(ctx, l)
	if _, err := x.Said("read it", readErr); err != nil {
		return err
	}
	removed := x.dir.Unlink(ctx, l)
	if _, err := x.Said("remove it", removed); err != nil {
		return err
	}
	switch {
	case again:
		x.Tell.Unfit(name, "one that exists was made again: two would hold the lock", otherPlace)
	case readErr != nil || read != target:
		x.Tell.Unfit(name, fmt.Sprintf("one reads %q (%v), not %q", read, readErr, target), otherPlace)
	case removed != nil:
		x.Tell.Unfit(name, "they can be made, but not removed: "+removed.Error(), "let this user remove what he made")
	default:
		x.Tell.Fit(name, "the second of two was refused, and the first reads as it was made")
	}
	return nil
}

// renames checks that a directory can be renamed: a shared lock is first made under another name.
func (x *examiner) renames(ctx context.Context) error {
	const name = "rename"
	from, err := x.New(ctx)
	if err != nil {
		return err
	}
	to := x.Fresh()
	cause := x.dir.Rename(ctx, from, to)
	if _, err := x.Said("rename a directory", cause); err != nil {
		return err
	}
	gone := x.dir.Rmdir(ctx, from)
	there := x.dir.Rmdir(ctx, to)
	switch {
	case cause != nil:
		x.Tell.Unfit(name, "a directory cannot be renamed: "+cause.Error(), "let this user rename directories: shared locks need it")
	case !errors.Is(gone, unix.ENOENT) || there != nil:
		x.Tell.Unfit(name, "after a rename the old name was still there, or the new one was not", otherPlace)
	default:
		x.Tell.Fit(name, "a directory had its new name at once")
	}
	return nil
}

// heartbeats checks that a holder can set the time of its directory, and that others see it.
func (x *examiner) heartbeats(ctx context.Context) error {
	const name = "heartbeat"
	d, err := x.New(ctx)
	if err != nil {
		return err
	}
	first, err := x.dir.Look(ctx, d)
	if err != nil {
		return x.Fail("look at a directory", err)
	}
	paused, seen, err := x.Heartbeat(ctx, doctor.Heartbeat{
		Touch: func() error { return x.dir.Touch(ctx, d) },
		Moved: func() (bool, error) {
			now, err := x.dir.Look(ctx, d)
			return now.Sign != first.Sign, err
		},
		Still: func(watched time.Duration) string {
			return fmt.Sprintf("the time of a directory, set again and again for %v, did not change: living holders would be taken for dead", watched)
		},
		Advice: otherPlace,
	})
	switch {
	case err != nil || !seen:
		return err
	case paused > doctor.Coarse:
		x.Tell.Weak(name, fmt.Sprintf("times of directories are coarse: one was seen to change after a wait of %v", paused), "use a --lease of 10s or more")
	default:
		x.Tell.Fit(name, fmt.Sprintf("the server set the time of a directory, and it was seen to change after a wait of %v", paused))
	}
	return nil
}

// clock compares the clocks, only for people.
func (x *examiner) clock(ctx context.Context) error {
	d, err := x.New(ctx)
	if err != nil {
		return err
	}
	here := time.Now()
	if err := x.dir.Touch(ctx, d); err != nil {
		return nil // told already
	}
	sight, err := x.dir.Look(ctx, d)
	if err != nil {
		return x.Fail("look at a directory", err)
	}
	x.Clock("server", sight.Modified.Sub(here), time.Second)
	return nil
}

// race checks that of two that make the same link at the same time one succeeds.
func (x *examiner) race(ctx context.Context) error {
	var l string
	return x.Race(ctx, doctor.Race{
		Name: "two make the same", Did: "made the same symbolic link", Advice: otherPlace,
		Start: func() error { l = x.Fresh(); return nil },
		Call:  func(side int) error { return x.dir.Symlink(ctx, []string{"a", "b"}[side], l) },
		End: func(int) (string, error) {
			_ = x.dir.Unlink(ctx, l) // if this fails, the link goes with all the rest
			return "", nil
		},
	})
}

//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

const (
	otherPlace   = "use mkdir: instead, or another file system: locks like this are not safe there"
	noHeartbeats = "let the file system keep times, and let owners set them"
)

// A checkedFS has checks of its own.
type checkedFS interface{ examine(backend.Tell) }

func (d *directory) examine(tell backend.Tell) {
	doctor.DirNeeds{Removal: true, Numbers: true}.Examine(d.path, tell)
}

// An examiner checks a place with files of its own. Nobody takes their names for a lock's.
type examiner struct {
	doctor.Examiner
	lock *Lock
	fs   FS
}

// Examine implements backend.Backend. It works with files beside the lock.
func (l *Lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	if admitted, err := l.admits(tell); !admitted {
		return err
	}
	fs := l.NewFS()
	defer fs.Close()
	if p, ok := fs.(checkedFS); ok {
		p.examine(tell)
	}
	x := &examiner{lock: l, fs: fs, Examiner: doctor.Examiner{
		Tell: tell, Place: files{fs}, Thing: "file", Prefix: ".doctor." + owner.NewID() + ".",
		Fail: l.fail, Unanswered: backend.Unclear,
	}}
	defer x.leave()
	return doctor.Run(ctx,
		x.Exclusive(doctor.Exclusive{
			Name: "exclusive create", Cannot: x.cannotMake, Again: "a file that exists was made again",
			Other: "to make what exists was refused, but not because it exists: ", Advice: otherPlace,
		}),
		x.links,
		x.Removal(doctor.Removal{
			Name: "remove files", Allow: "let this user remove what he made there, or no lock is ever released",
			Twice: "one that is gone was removed again", Advice: otherPlace, Fit: "what is gone was refused",
		}),
		x.openFile,
		x.heartbeat,
		x.Listing(backend.Weak, "what crashed waiters leave may stay there"),
		x.race,
	)
}

// files is a doctor.Place.
type files struct{ fs FS }

func (f files) Make(_ context.Context, name string) error      { return f.fs.Create(name, "0\n") }
func (f files) Remove(_ context.Context, name string) error    { return f.fs.Unlink(name) }
func (f files) List(context.Context, string) ([]string, error) { return f.fs.List() }

// admits repeats the checks of every attempt.
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
		tell.Refusal("place", err)
		return false, nil
	}
	return false, err
}

// leave removes what the checks made.
func (x *examiner) leave() {
	for _, name := range x.Made {
		if err := x.fs.Unlink(name); err != nil && !absent(err) {
			x.Tell.Weak("clean up", name+" stays: "+err.Error(), "remove it")
		}
	}
}

func (x *examiner) cannotMake(cause error) {
	e := backend.FileError(string(x.lock.Address), "make a file", cause)
	x.Tell.Unfit("exclusive create", "a file cannot be made: "+e.Err.Error(), e.Hint)
}

// createOpen makes a file and opens it, as a holder does.
func (x *examiner) createOpen(ctx context.Context) (name string, file File, err error) {
	if name, err = x.New(ctx); err != nil {
		return "", nil, err
	}
	if file, err = x.fs.Open(name); err != nil {
		return "", nil, x.Fail("open a file", err)
	}
	return name, file, nil
}

// links checks that a file is known by its number, and counts its names.
func (x *examiner) links(ctx context.Context) error {
	f, err := x.New(ctx)
	if err != nil {
		return err
	}
	second := x.Fresh()
	one, err := x.fs.Stat(f)
	linked := x.fs.Link(f, second)
	if err := x.Must("link a file", errors.Join(err, linked), "hard links", "a file cannot be given a second name: ",
		"use mkdir: or local: instead, or another place"); err != nil {
		return err
	}
	if err := x.fs.Link(f, second); !errors.Is(err, unix.EEXIST) {
		x.Tell.Unfit("hard links", "a name that exists was given again, or not refused because it exists", otherPlace)
	} else {
		x.Tell.Fit("hard links", "a name that exists was refused")
	}
	x.openSecond(second)
	return x.countLinks(f, second, one)
}

// openSecond opens a file by its new name, as a holder does.
func (x *examiner) openSecond(second string) {
	const name = "open by a second name"
	file, err := x.fs.Open(second)
	if err != nil {
		x.Tell.Unfit(name, "a file that was given a second name cannot be opened by it: "+err.Error(),
			"use mkdir: with ?style=dir instead")
		return
	}
	_ = file.Close()
	x.Tell.Fit(name, "a file was opened by the name that it got last")
}

func (x *examiner) countLinks(f, second string, one lockfile.Stat) error {
	a, errA := x.fs.Stat(f)
	b, errB := x.fs.Stat(second)
	removed := x.fs.Unlink(second)
	last, errC := x.fs.Stat(f)
	if err := errors.Join(errA, errB, removed, errC); err != nil {
		return x.Fail("look at a file with two names", err)
	}
	if a.Same(b) && a.Same(one) && last.Same(one) {
		x.Tell.Fit("file numbers", "a file has the same number under both its names")
	} else {
		x.Tell.Unfit("file numbers", "a file has not the same number under its second name, or when it is looked at again", otherPlace)
	}
	counted := fmt.Sprintf("%d, then %d, then %d", one.Links, a.Links, last.Links)
	if one.Links == 1 && a.Links == 2 && b.Links == 2 && last.Links == 1 {
		x.Tell.Fit("link count", counted)
	} else {
		x.Tell.Unfit("link count", "of a file that got a second name and lost it: "+counted+", not 1, 2, 1", otherPlace)
	}
	return nil
}

// race checks that of two that link their files to the same name at the same time one succeeds.
func (x *examiner) race(ctx context.Context) error {
	var from [2]string
	for side := range from {
		var err error
		if from[side], err = x.New(ctx); err != nil {
			return err
		}
	}
	to := x.Fresh()
	return x.Race(ctx, doctor.Race{
		Name: "two link the same", Did: "linked their files to the same name", Advice: otherPlace,
		Call: func(side int) error { return x.fs.Link(from[side], to) },
		End:  func(int) (string, error) { return "", x.Remove(ctx, to) },
	})
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// Exclusive has the words of the check that an existing thing is not made again.
type Exclusive struct {
	Name string
	// Cannot tells of a place where nothing can be made; nil where that is known to work.
	Cannot func(cause error)
	Again  string // found if it was made again
	// Other is what is found, followed by the server's reason, if that reason is not that the thing
	// exists. It is empty where the reason does not matter.
	Other  string
	Advice string
}

// Exclusive checks that a locker that makes an existing thing is told so, and does not take the
// thing for its own.
func (x *Examiner) Exclusive(w Exclusive) Step {
	return func(ctx context.Context) error {
		name := x.Fresh()
		cause := x.Place.Make(ctx, name)
		switch made, err := x.Said("make a "+x.Thing, cause); {
		case err != nil:
			return err
		case !made && w.Cannot == nil:
			return x.Fail("make a "+x.Thing, cause)
		case !made:
			w.Cannot(cause)
			return ErrEnough
		}
		return x.MadeAgain(w, x.Place.Make(ctx, name))
	}
}

// MadeAgain judges the outcome of making an existing thing.
func (x *Examiner) MadeAgain(w Exclusive, again error) error {
	made, err := x.Said("make a "+x.Thing+" again", again)
	switch {
	case err != nil:
		return err
	case made:
		x.Tell.Unfit(w.Name, w.Again, w.Advice)
	case w.Other != "" && !errors.Is(again, fs.ErrExist):
		x.Tell.Unfit(w.Name, w.Other+again.Error(), w.Advice)
	default:
		x.Tell.Fit(w.Name, "the second of two was refused")
	}
	return nil
}

// Removal has the words of the check that a thing can be removed, once.
type Removal struct {
	Name   string
	Allow  string // advice if nothing can be removed
	Twice  string // found if a removed thing was removed again
	Advice string
	Fit    string
	// Full is found if a directory was removed with its contents; empty if that is not asked.
	Full string
}

// Removal checks that a lock can be removed, or it is never released. Of several that remove a
// thing only one may be told that it did.
func (x *Examiner) Removal(w Removal) Step {
	return func(ctx context.Context) error { return x.removal(ctx, w) }
}

func (x *Examiner) removal(ctx context.Context, w Removal) error {
	var full Emptied
	var err error
	if w.Full != "" {
		if full, err = x.RemoveFull(ctx); err != nil {
			return err
		}
	}
	d, err := x.New(ctx)
	if err != nil {
		return err
	}
	first := x.Place.Remove(ctx, d)
	if _, err := x.Said("remove a "+x.Thing, first); err != nil {
		return err
	}
	again, err := x.Said("remove it again", x.Place.Remove(ctx, d))
	if err != nil {
		return err
	}
	stuck := first
	if !full.Removed {
		stuck = errors.Join(first, full.Inside)
	}
	switch {
	case stuck != nil:
		x.Tell.Unfit(w.Name, "they can be made, but not removed: "+stuck.Error(), w.Allow)
		return ErrEnough
	case full.Removed:
		x.Tell.Unfit(w.Name, w.Full, w.Advice)
	case again:
		x.Tell.Unfit(w.Name, w.Twice, w.Advice)
	default:
		x.Tell.Fit(w.Name, w.Fit)
	}
	return nil
}

// Emptied is what became of a directory that is not empty and was to be removed.
type Emptied struct {
	Removed bool
	Inside  error // of the removal of its contents, which was tried afterwards
}

// RemoveFull tries to remove a directory that is not empty, then its contents.
func (x *Examiner) RemoveFull(ctx context.Context) (e Emptied, err error) {
	d, err := x.New(ctx, "in")
	if err != nil {
		return e, err
	}
	if e.Removed, err = x.Said("remove a directory that is not empty", x.Place.Remove(ctx, d)); err != nil {
		return e, err
	}
	e.Inside = x.Place.Remove(ctx, d+"/in")
	_, err = x.Said("remove a directory", e.Inside)
	return e, err
}

// Listing checks that a listing shows what is there. Listings find what crashed processes left,
// and who has a lock. How bad a fault is depends on the kind of lock.
func (x *Examiner) Listing(bad backend.Finding, advice string) Step {
	return func(ctx context.Context) error { return x.listing(ctx, bad, advice) }
}

func (x *Examiner) listing(ctx context.Context, bad backend.Finding, advice string) error {
	const name = "listing"
	d, err := x.New(ctx)
	if err != nil {
		return err
	}
	dir, own := path.Split(d)
	came, err := x.Contains(ctx, path.Clean(dir), own)
	if err != nil {
		return err
	}
	if err := x.Remove(ctx, d); err != nil {
		return err
	}
	stays, err := x.Contains(ctx, path.Clean(dir), own)
	switch {
	case err != nil:
		return err
	case !came || stays:
		x.Tell(backend.Check{Name: name, Finding: bad, Text: "a name that we made was not listed, or one that we removed was", Advice: advice})
	default:
		x.Tell.Fit(name, "names that we make come at once, and go at once")
	}
	return nil
}

const (
	firstPause = 5 * time.Millisecond
	// Coarse times make short leases unsafe; times that never move make all leases unsafe.
	Coarse = 500 * time.Millisecond
	blind  = 5 * time.Second
)

// A Heartbeat is how a holder shows that it lives: by the time of a thing, which others look at.
type Heartbeat struct {
	Touch func() error         // sets the time to the server's
	Moved func() (bool, error) // looks whether the time has changed since before the first Touch
	// Still tells that the time did not change while it was watched, for so long.
	Still  func(watched time.Duration) string
	Advice string
}

// Heartbeat sets the time of a thing again and again, until the change is seen, or its pauses add
// up to blind. It returns how long the pauses were together. The calls took time, too, which says
// nothing of the time that the place keeps. seen is false after a finding.
func (x *Examiner) Heartbeat(ctx context.Context, h Heartbeat) (paused time.Duration, seen bool, err error) {
	const name = "heartbeat"
	begun := time.Now()
	for step := firstPause; paused < blind; step *= 2 {
		if err := clock.Pause(ctx, step); err != nil {
			return paused, false, err
		}
		paused += step
		touched := h.Touch()
		if set, err := x.Said("set the time of a "+x.Thing, touched); err != nil {
			return paused, false, err
		} else if !set {
			x.Tell.Unfit(name, fmt.Sprintf("the time of a %s of ours cannot be set: %v", x.Thing, touched), "let the file system keep times, and let owners set them")
			return paused, false, nil
		}
		moved, err := h.Moved()
		if err != nil {
			return paused, false, x.Fail("look at a "+x.Thing, err)
		}
		if moved {
			return paused, true, nil
		}
	}
	x.Tell.Unfit(name, h.Still(time.Since(begun).Round(100*time.Millisecond)), h.Advice)
	return paused, false, nil
}

// Clock tells how far the clock of a place is from ours, which may be exact to so much.
func (x *Examiner) Clock(whose string, off, exact time.Duration) {
	text := "the " + whose + "'s is like ours, to the second"
	switch {
	case off.Abs() > exact:
		text = fmt.Sprintf("the %s's is %v ahead of ours (behind, if negative)", whose, off.Round(time.Second))
	case exact > time.Second:
		text += " or two"
	}
	x.Tell.Fit("clock", text+"; leases do not depend on it")
}

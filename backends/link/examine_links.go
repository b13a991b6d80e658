//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

const raceRounds = 20

// links: a file is known by its number, and counts its names.
func (x *examiner) links(context.Context) error {
	f, err := x.create()
	if err != nil {
		return err
	}
	second := x.fresh()
	one, err := x.fs.Stat(f)
	linked := x.fs.Link(f, second)
	if fatal := x.said("link a file", errors.Join(err, linked)); fatal != nil {
		return fatal
	}
	if linked != nil || err != nil {
		x.tell.Unfit("hard links", "a file cannot be given a second name: "+errors.Join(err, linked).Error(), "use mkdir: or local: instead, or another place")
		return errEnough
	}
	if err := x.fs.Link(f, second); !errors.Is(err, unix.EEXIST) {
		x.tell.Unfit("hard links", "a name that exists was given again, or not refused because it exists", otherPlace)
	} else {
		x.tell.Fit("hard links", "a name that exists was refused")
	}
	return x.countLinks(f, second, one)
}

func (x *examiner) countLinks(f, second string, one Stat) error {
	a, errA := x.fs.Stat(f)
	b, errB := x.fs.Stat(second)
	removed := x.fs.Unlink(second)
	last, errC := x.fs.Stat(f)
	if err := errors.Join(errA, errB, removed, errC); err != nil {
		return x.lock.fail("look at a file with two names", err)
	}
	if a.same(b) && a.same(one) && last.same(one) {
		x.tell.Fit("file numbers", "a file has the same number under both its names")
	} else {
		x.tell.Unfit("file numbers", "a file has not the same number under its second name, or when it is looked at again", otherPlace)
	}
	counted := fmt.Sprintf("%d, then %d, then %d", one.Links, a.Links, last.Links)
	if one.Links == 1 && a.Links == 2 && b.Links == 2 && last.Links == 1 {
		x.tell.Fit("link count", counted)
	} else {
		x.tell.Unfit("link count", "of a file that got a second name and lost it: "+counted+", not 1, 2, 1", otherPlace)
	}
	return nil
}

// listing: what crashed waiters left is found by listing.
func (x *examiner) listing(context.Context) error {
	const name = "listing"
	f, err := x.create()
	if err != nil {
		return err
	}
	before, err1 := x.fs.List()
	removed := x.fs.Unlink(f)
	after, err2 := x.fs.List()
	if err := errors.Join(err1, removed, err2); err != nil {
		return x.lock.fail("list the directory", err)
	}
	if !slices.Contains(before, f) || slices.Contains(after, f) {
		x.tell.Weak(name, "a name that we made was not listed, or one that we removed was", "what crashed waiters leave may stay there")
		return nil
	}
	x.tell.Fit(name, "names that we make come at once, and go at once")
	return nil
}

// race: of two who link their files to the same name at the same time one succeeds.
// Two hosts would show more, but we are on one.
func (x *examiner) race(ctx context.Context) error {
	const name = "two link the same"
	a, errA := x.create()
	b, errB := x.create()
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	to := x.fresh()
	for round := range raceRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		winners, err := x.raceOnce(a, b, to)
		switch {
		case err != nil:
			return err
		case winners != 1:
			x.tell.Unfit(name, fmt.Sprintf("in round %d, %d of two who linked their files to the same name at the same time were told that they did", round+1, winners), otherPlace)
			return nil
		}
	}
	x.tell.Fit(name, fmt.Sprintf("from this host, at the same time: one of the two in each of %d rounds", raceRounds))
	return nil
}

func (x *examiner) raceOnce(a, b, to string) (winners int, err error) {
	second := make(chan error)
	go func() { second <- x.fs.Link(b, to) }()
	for _, outcome := range []error{x.fs.Link(a, to), <-second} {
		if fatal := x.said("link a file", outcome); fatal != nil {
			err = fatal
		}
		if outcome == nil {
			winners++
		}
	}
	if removed := x.fs.Unlink(to); err == nil && removed != nil {
		err = x.lock.fail("remove a file", removed)
	}
	return winners, err
}

//go:build unix

package nfs

import (
	"context"
	"fmt"
)

const raceRounds = 20

// race: of two who make the same link at the same time one succeeds. Two hosts
// would show more, but we are on one.
func (x *examiner) race(ctx context.Context) error {
	const name = "two make the same"
	for round := range raceRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		winners, err := x.raceOnce()
		switch {
		case err != nil:
			return err
		case winners != 1:
			x.tell.Unfit(name, fmt.Sprintf("in round %d, %d of two who made the same symbolic link at the same time were told that they did", round+1, winners), otherPlace)
			return nil
		}
	}
	x.tell.Fit(name, fmt.Sprintf("from this host, at the same time: one of the two in each of %d rounds", raceRounds))
	return nil
}

func (x *examiner) raceOnce() (winners int, err error) {
	l := x.fresh()
	second := make(chan error)
	go func() { second <- x.dir.Symlink("b", l) }()
	for _, outcome := range []error{x.dir.Symlink("a", l), <-second} {
		won, fatal := x.said("make a symbolic link", outcome)
		if fatal != nil {
			err = fatal
		}
		if won {
			winners++
		}
	}
	if err == nil {
		_ = x.dir.Unlink(l) // else it goes with all the rest
	}
	return winners, err
}

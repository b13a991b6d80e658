package mkdirlock

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	raceRounds = 20
	// raceTime is when a slow place has run enough rounds, but for the first few.
	raceTime, raceAtLeast = 20 * time.Second, 3
)

// A tally is how a race went.
type tally struct {
	rounds, nobody int
	broken         string // what must never happen; it ends the race
}

// raceToMake: of two who make a directory at the same time one succeeds.
func (x *examiner) raceToMake(ctx context.Context) error {
	return x.races("two make the same", func(t *tally) error {
		d := x.fresh()
		won, err := x.race(t, "made the same directory", func(dir Dir, _ int) error { return dir.Mkdir(ctx, d) })
		if err == nil && won == 1 {
			_, err = x.said("remove a directory", x.a.Rmdir(ctx, d)) // if not now, then with all the rest
		}
		return err
	})
}

// raceToRemove: of two who remove a directory at the same time one succeeds.
func (x *examiner) raceToRemove(ctx context.Context) error {
	return x.races("two remove the same", func(t *tally) error {
		d := x.fresh()
		if err := x.make(ctx, d); err != nil {
			return err
		}
		_, err := x.race(t, "removed the same directory", func(dir Dir, _ int) error { return dir.Rmdir(ctx, d) })
		return err
	})
}

// raceToRename: of two who rename their directories onto the same one at the same
// time one succeeds.
func (x *examiner) raceToRename(ctx context.Context) error {
	if x.b == nil {
		return nil // told already
	}
	entries := []string{"xa", "xb"}
	var homes [2]string // of the reservation with that entry
	for side, entry := range entries {
		home, err := x.reservation(ctx, entry)
		if err != nil {
			return err
		}
		homes[side] = home
	}
	return x.races("two rename to the same", func(t *tally) error {
		to := x.fresh()
		if x.moveOnto {
			if err := x.make(ctx, to); err != nil {
				return err
			}
		}
		won, err := x.race(t, "renamed onto the same directory", func(dir Dir, side int) error { return dir.Rename(ctx, homes[side], to) })
		if err != nil || won != 1 {
			return err
		}
		entry, err := x.entryOf(ctx, to)
		if err != nil {
			return err
		}
		winner := slices.Index(entries, entry)
		if winner < 0 {
			t.broken = "after two renames onto the same directory not just the entry of one was in it"
			return nil
		}
		if err := x.a.Rename(ctx, to, homes[winner]); err != nil {
			return x.lock.fail("rename a directory back", err)
		}
		return nil
	})
}

// races runs a race again and again, until something is broken, and tells of it.
func (x *examiner) races(name string, round func(*tally) error) error {
	if x.b == nil {
		return nil // told already
	}
	var t tally
	begun := time.Now()
	for t.rounds < raceRounds && t.broken == "" && (t.rounds < raceAtLeast || time.Since(begun) < raceTime) {
		t.rounds++
		if err := round(&t); err != nil {
			return err
		}
	}
	x.report(name, t)
	return nil
}

// race makes a call over both connections at the same time.
func (x *examiner) race(t *tally, what string, call func(dir Dir, side int) error) (winners int, err error) {
	start, second := make(chan struct{}), make(chan error)
	go func() {
		<-start
		second <- call(x.b, 1)
	}()
	close(start)
	for _, outcome := range []error{call(x.a, 0), <-second} {
		won, fatal := x.said("race over two connections", outcome)
		if fatal != nil {
			err = fatal
		}
		if won {
			winners++
		}
	}
	switch winners {
	case 0:
		t.nobody++
	case 2:
		t.broken = "two connections " + what + " at the same time, and both were told that it happened"
	}
	return winners, err
}

func (x *examiner) report(name string, t tally) {
	switch {
	case t.broken != "":
		x.tell.Unfit(name, fmt.Sprintf("in round %d %s", t.rounds, t.broken), "use another server: two would hold the lock")
	case t.nobody > 0:
		x.tell.Weak(name, fmt.Sprintf("in %d of %d rounds both were refused, else one", t.nobody, t.rounds),
			"locks are safe, but waiters may need more tries; find out why the server refuses")
	default:
		x.tell.Fit(name, fmt.Sprintf("over two connections at the same time: one of the two in each of %d rounds", t.rounds))
	}
}

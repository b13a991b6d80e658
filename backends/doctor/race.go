package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	raceRounds = 20
	// raceTime is after how long a slow place has run enough rounds, except that raceAtLeast rounds
	// are always run.
	raceTime, raceAtLeast = 20 * time.Second, 3
)

// In a Race two make a call at the same time. One of them must be told that it happened.
type Race struct {
	Name string
	// Start prepares a round; nil: nothing to prepare.
	Start func() error
	Call  func(side int) error // side is 0 or 1
	// End looks at the outcome of a round, and tidies up for the next. broken is what must never
	// happen; it ends the race.
	End func(winners int) (broken string, err error)

	Did    string // what both were told, as in "made the same directory"
	Advice string // if it is broken, or if both were told that they won
	// Connections: each has its own connection, and the server may refuse both. Else both calls are
	// made on this host.
	Connections bool
}

// wrong says what is wrong about a number of winners, or "".
func (r Race) wrong(winners int) string {
	switch {
	case winners == 1, winners == 0 && r.Connections:
		return ""
	case r.Connections:
		return " two connections " + r.Did + " at the same time, and both were told that it happened"
	}
	return fmt.Sprintf(", %d of two who %s at the same time were told that they did", winners, r.Did)
}

func (r Race) where() string {
	if r.Connections {
		return "over two connections"
	}
	return "from this host,"
}

// Race runs a race again and again, until something is broken, and tells of it.
func (x *Examiner) Race(ctx context.Context, r Race) error {
	rounds, nobody, broken := 0, 0, ""
	for begun := time.Now(); rounds < raceRounds && broken == "" && (rounds < raceAtLeast || time.Since(begun) < raceTime); {
		if err := ctx.Err(); err != nil {
			return err
		}
		rounds++
		var winners int
		var err error
		if winners, broken, err = x.round(r); err != nil {
			return err
		}
		if winners == 0 {
			nobody++
		}
	}
	switch {
	case broken != "":
		x.Tell.Unfit(r.Name, fmt.Sprintf("in round %d%s", rounds, broken), r.Advice)
	case nobody > 0:
		x.Tell.Weak(r.Name, fmt.Sprintf("in %d of %d rounds both were refused, else one", nobody, rounds),
			"locks are safe, but waiters may need more tries; find out why the server refuses")
	default:
		x.Tell.Fit(r.Name, fmt.Sprintf("%s at the same time: one of the two in each of %d rounds", r.where(), rounds))
	}
	return nil
}

// round returns how many won, and what is broken or wrong about that.
func (x *Examiner) round(r Race) (winners int, broken string, err error) {
	if r.Start != nil {
		if err := r.Start(); err != nil {
			return 0, "", err
		}
	}
	for _, outcome := range Together(2, r.Call) {
		won, fatal := x.Said("race", outcome)
		if fatal != nil {
			err = fatal
		}
		if won {
			winners++
		}
	}
	if err != nil {
		return winners, "", err
	}
	if wrong := r.wrong(winners); wrong != "" {
		return winners, wrong, nil
	}
	broken, err = r.End(winners)
	return winners, broken, err
}

// Together makes a call for n sides, 0 to n-1, at the same time, and returns what came of each.
func Together(n int, call func(side int) error) []error {
	outcomes := make([]error, n)
	var ready, done sync.WaitGroup
	ready.Add(n)
	for side := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			outcomes[side] = call(side)
		})
	}
	done.Wait()
	return outcomes
}

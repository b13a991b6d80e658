//go:build linux

package nfslab

import (
	"testing"
	"time"

	"locksmith/test/lab/holds"
)

const racers = 12

// exclusive: twelve contenders on three hosts never meet.
func exclusive(t *testing.T) {
	var h history
	c := contender{lock: place(t), mode: "exclusive", rounds: 10, lease: 20 * time.Second, work: 5 * time.Millisecond}
	h.raceAll(t, 3*time.Minute, repeat(c, racers))
	if want := racers * c.rounds; len(h.held) != want {
		t.Errorf("%d acquisitions, want %d", len(h.held), want)
	}
	if len(h.losses) > 0 {
		t.Errorf("lost, though nothing happened: %q", h.losses)
	}
	h.check(t, true)
	t.Log(h.rate())
	atRest(t, c.lock)
}

// shared: two of three share, and meet; nobody meets the third.
func shared(t *testing.T) {
	lock := place(t)
	var h history
	all := repeat(contender{lock: lock, mode: "shared", rounds: 3, lease: 20 * time.Second, work: 60 * time.Millisecond}, racers)
	for i := 0; i < racers; i += 3 {
		// The groups move on by one host a time, so that each has both kinds.
		all[i+i/3%3].mode = "exclusive"
	}
	h.raceAll(t, 3*time.Minute, all)
	h.check(t, true)
	t.Logf("%s; %d pairs together", h.rate(), holds.Together(h.held))

	// Two on different hosts that wait for nothing but each other.
	a, b := hold(t, 1, lock, "--shared"), hold(t, 2, lock, "--shared")
	a.held()
	b.held()
	if s := look(t, 3, lock); len(s.Holders) != 2 {
		t.Errorf("status with two shared holders: %+v", s)
	}
	hold(t, 3, lock, "--timeout", "0").exit(75, waitLimit)
	a.release()
	hold(t, 3, lock, "--timeout", "0").exit(75, waitLimit)
	b.release()
	hold(t, 3, lock, "--timeout", "10s").held()
}

// repeat returns n contenders like c.
func repeat(c contender, n int) []contender {
	all := make([]contender, n)
	for i := range all {
		all[i] = c
	}
	return all
}

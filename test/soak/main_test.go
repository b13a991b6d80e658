//go:build linux

package soak

import (
	"flag"
	"testing"
	"time"

	"locksmith/test/lab"
)

var (
	long   = flag.Bool("long", false, "let processes soak for half an hour, or as long as -for says")
	period = flag.Duration("for", 0, "let processes soak for this `duration`, a minute or more with -long")
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

// A plan says for how long processes soak, and what is flat.
type plan struct {
	period time.Duration
	every  time.Duration // between two looks
	pause  time.Duration // between two visitors of a place
	grows  float64       // KiB of memory that a helper may grow by after the warm-up
}

// chosenPlan returns the long plan or the short one. In a few seconds Go's memory is not
// collected even once, so the short plan notices only what grows fast.
func chosenPlan(t *testing.T) plan {
	t.Helper()
	p := plan{period: 12 * time.Second, every: 250 * time.Millisecond, pause: 100 * time.Millisecond, grows: 1024}
	if *long {
		p = plan{period: 30 * time.Minute, every: time.Second, pause: time.Second, grows: 64}
	}
	if *period > 0 {
		p.period = *period
	}
	if least := 40 * p.every; p.period < least {
		t.Fatalf("-for %v: give it %v at least", p.period, least)
	}
	return p
}

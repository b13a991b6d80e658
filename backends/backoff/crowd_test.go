package backoff

import (
	"testing"
	"time"
)

// TestSpread: each of a crowd pauses so long that all together ask as often as a few, at
// different times. A few ask as often as they would alone, if that is not too often for all.
func TestSpread(t *testing.T) {
	const each = 2 * time.Millisecond
	for _, x := range []struct {
		n          int
		d, spread  time.Duration
		everywhere bool
	}{
		{0, time.Millisecond, time.Millisecond, false},
		{1, time.Millisecond, time.Millisecond, false},
		{2, time.Millisecond, 2 * each, false},
		{Few, time.Second, time.Second, false},
		{10 * Few, time.Second, 10 * time.Second, true},
		{10 * Few, time.Millisecond, 10 * Few * each, true},
	} {
		c := Crowd{Each: each}
		c.Count(x.n, x.n, 0)
		if c.Large() != x.everywhere {
			t.Errorf("%d are a crowd: %v", x.n, c.Large())
		}
		seen := map[time.Duration]bool{}
		for range 16 {
			d := c.Spread(x.d)
			if seen[d] = true; d < x.spread/2 || d > x.spread*3/2 || !x.everywhere && d != x.spread {
				t.Errorf("of %d, %v becomes %v, want some %v", x.n, x.d, d, x.spread)
			}
		}
		if x.everywhere && len(seen) < 8 {
			t.Errorf("16 pauses of one of %d were only %d different ones", x.n, len(seen))
		}
	}
}

// TestDue: a crowd is counted at once, and again when the lock has changed hands or after a
// while. The more names the listing has, the more seldom it is counted.
func TestDue(t *testing.T) {
	const each = time.Millisecond
	for _, x := range []struct {
		what         string
		c            Crowd
		names        int
		changed, now time.Duration
		due          bool
	}{
		{"at once", Crowd{Each: each}, 0, 0, 0, true},
		{"never, if nobody asks for it", Crowd{}, 0, 0, 0, false},
		{"again", Crowd{Each: each}, 3, time.Millisecond, 99 * time.Millisecond, false},
		{"after a change", Crowd{Each: each}, 3, time.Millisecond, 100 * time.Millisecond, true},
		{"after a change, among many names", Crowd{Each: each}, 3000, time.Millisecond, time.Second, false},
		{"without a change", Crowd{Each: each}, 3, 0, countEvery - 1, false},
		{"after a while", Crowd{Each: each}, 3, 0, 2 * countEvery, true},
	} {
		if x.names > 0 {
			x.c.Count(1, x.names, 0)
		}
		x.c.Changed(x.changed)
		if x.c.Due(x.now) != x.due {
			t.Errorf("%s: they are to be counted: %v", x.what, !x.due)
		}
	}
}

// TestSleeps: waiters that came first are woken, however many come after them.
func TestSleeps(t *testing.T) {
	for first, want := range map[int]bool{1: false, Few: false, Few + 1: true} {
		c := Crowd{Each: time.Millisecond}
		c.Count(first, first, 0)
		c.Count(10*Few, 10*Few, 0)
		if c.Sleeps() != want {
			t.Errorf("who came as number %d sleeps: %v", first, !want)
		}
		if c.Count(Few, Few, 0); c.Sleeps() {
			t.Errorf("one of a few sleeps, who came as number %d", first)
		}
	}
}

func TestGrowing(t *testing.T) {
	var c Crowd
	c.Changed(time.Minute)
	for now, want := range map[time.Duration]time.Duration{
		time.Minute:                   time.Millisecond,
		time.Minute + 8*time.Second:   time.Second,
		time.Minute + 800*time.Second: 10 * time.Second,
	} {
		if d := c.Growing(now, time.Millisecond, 10*time.Second); d != want {
			t.Errorf("at %v: %v, want %v", now, d, want)
		}
	}
}

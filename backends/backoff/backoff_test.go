package backoff

import (
	"math"
	"testing"
	"time"
)

func highest(n int64) int64 { return n - 1 }
func lowest(int64) int64    { return 0 }

// TestOriginal: the numbers of the Tcl original.
func TestOriginal(t *testing.T) {
	for _, c := range []struct {
		random func(int64) int64
		quick  time.Duration
	}{{lowest, 25 * time.Millisecond}, {highest, 100 * time.Millisecond}} {
		p := Schedule{Config: Config{Random: c.random}}
		slow, step := time.Duration(0), 2*time.Second
		for round := range 64 { // up, down, and up again
			for i := range 16 {
				if d := p.Next(); d != c.quick {
					t.Fatalf("round %d: quick pause %d is %v", round, i, d)
				}
			}
			slow += step
			if d := p.Next(); d != slow {
				t.Fatalf("slow pause %d is %v, want %v", round, d, slow)
			}
			if slow == 32*time.Second || slow == 2*time.Second && round > 0 {
				step = -step
			}
		}
	}
}

// TestJitter: waiters who came together do not stay together.
func TestJitter(t *testing.T) {
	var p Schedule
	seen := map[time.Duration]bool{}
	for range 16 {
		d := p.Next()
		seen[d] = true
		if d < 25*time.Millisecond || d > 100*time.Millisecond {
			t.Errorf("a quick pause of %v", d)
		}
	}
	if len(seen) < 8 {
		t.Errorf("16 pauses were only %d different ones", len(seen))
	}
}

func TestOwnManners(t *testing.T) {
	p := Schedule{Config: Config{Poll: Range{time.Second, time.Second}, Quick: 2, Slow: Range{5 * time.Second, 7 * time.Second}}}
	for i, want := range []time.Duration{1, 1, 5, 1, 1, 7, 1, 1, 5, 1, 1, 7} {
		if d := p.Next(); d != want*time.Second {
			t.Errorf("pause %d is %v, want %ds", i, d, want)
		}
	}
}

// TestWrongWayRound: if a range ends before it begins, that is no reason to fail, or to ask
// without a pause.
func TestWrongWayRound(t *testing.T) {
	p := Schedule{Config: Config{Poll: Range{Min: time.Second}, Quick: 1, Slow: Range{3 * time.Second, time.Second}}}
	for i, want := range []time.Duration{1, 3, 1, 3} {
		if d := p.Next(); d != want*time.Second {
			t.Errorf("pause %d is %v, want %ds", i, d, want)
		}
	}
}

func TestLongest(t *testing.T) {
	p := Schedule{Config: Config{Quick: 1, Slow: Range{math.MaxInt64, math.MaxInt64}}}
	for range 4 {
		if d := p.Next(); d <= 0 {
			t.Errorf("a pause of %v", d)
		}
	}
}

// TestGrowth: each pause is at most half as long again as the one before could be, and at least
// half of that, up to the longest. Reset begins again.
func TestGrowth(t *testing.T) {
	g, seen := Growth{First: time.Second, Most: 10 * time.Second}, map[time.Duration]bool{}
	for range 3 {
		most := time.Second
		for range 20 {
			d := g.Next()
			if d > most || d < most/2 {
				t.Fatalf("a pause of %v, want %v at most", d, most)
			}
			seen[d] = true
			most = min(most*3/2, 10*time.Second)
		}
		g.Reset()
	}
	if len(seen) < 30 {
		t.Errorf("%d pauses, all like %v", len(seen), seen)
	}
}

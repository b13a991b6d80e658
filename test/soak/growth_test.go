//go:build linux

package soak

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestGrowth: a quantity that leaks is found, and one that goes up and down is not.
func TestGrowth(t *testing.T) {
	const looks, may = 1800, 64
	at := time.Now()
	chance := rand.New(rand.NewPCG(1, 2))
	// dips returns a quantity that grows, but is smaller in one quarter of the time in which it is
	// judged.
	dips := func(quarter int) func(look int) float64 {
		return func(look int) float64 {
			grown := 4000 + 0.2*float64(look)
			if settled := look - looks/3; settled >= 0 && settled*4/(looks-looks/3) == quarter {
				return grown - 80
			}
			return grown
		}
	}
	for _, c := range []struct {
		what   string
		memory func(look int) float64
		grown  bool
	}{
		{"nothing", func(int) float64 { return 4000 }, false},
		{"noise", func(int) float64 { return 4000 + 300*chance.Float64() }, false},
		{"a little", func(look int) float64 { return 4000 + 50*float64(look)/looks }, false},
		{"a warm-up", func(look int) float64 { return 4000 + min(float64(look), 500) }, false},
		{"a hundred bytes a heartbeat, in noise", func(look int) float64 { return 4000 + 0.1*float64(look) + 40*chance.Float64() }, true},
		{"what leaks, but for a dip in the second quarter", dips(1), true},
		{"what leaks, but for a dip in the third", dips(2), true},
		{"what leaks, but for a dip in the last", dips(3), true},
		{"a step in the middle", func(look int) float64 { return 4000 + 100*float64(2*look/looks) }, false},
		{"a step near the end", func(look int) float64 { return 4000 + 100*float64(5*look/4/looks) }, false},
		{"up and down", func(look int) float64 { return 4000 + 100*math.Sin(float64(look)/150) }, false},
		{"less and less", func(look int) float64 { return 6000 - float64(look) }, false},
		{"more and more", func(look int) float64 { return 4000 + float64(look*look)/10000 }, true},
	} {
		var s series
		for look := range looks {
			s = append(s, sample{at: at.Add(time.Duration(look) * time.Second), has: [quantities]float64{memory: c.memory(look)}})
		}
		if grown := (plan{grows: may}).check(s); (len(grown) > 0) != c.grown {
			t.Errorf("%s: %q", c.what, grown)
		}
	}
}

package soak

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestGrowth: what leaks is found, and what goes up and down is not.
func TestGrowth(t *testing.T) {
	const looks, may = 1800, 64
	at := time.Now()
	chance := rand.New(rand.NewPCG(1, 2))
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
		{"more and more", func(look int) float64 { return 4000 + float64(look*look)/10000 }, true},
	} {
		var s series
		for look := range looks {
			s = append(s, sample{at: at.Add(time.Duration(look) * time.Second), memory: c.memory(look)})
		}
		if grown := (plan{grows: may}).check(s); (len(grown) > 0) != c.grown {
			t.Errorf("%s: %q", c.what, grown)
		}
	}
}

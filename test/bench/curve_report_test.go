package main

import (
	"math"
	"testing"
)

func TestGrowth(t *testing.T) {
	var c curve
	for _, n := range []int{1, 8, 16, 32, 64} {
		c.points = append(c.points, point{waiters: n, latency: 3, cpu: 5 * math.Pow(float64(n), 1.5), idle: load{switches: float64(n) - 1}})
	}
	for of, want := range map[float64]float64{c.growth(point.time): 0, c.growth(point.work): 1.5, c.growth(point.stir): 1} {
		if of != want {
			t.Errorf("grows to the power of %g, not %g", of, want)
		}
	}
}

package main

import (
	"math"
	"slices"
)

// fewest is how many waiters there are where a curve's growth begins to count.
const fewest = 8

// growth is the power of the number of waiters with which something grows: 0 if it does
// not, 1 if it is twice as much for twice as many. It is the slope of the straight line
// that fits best between the logarithms, to a tenth.
func (c *curve) growth(of func(point) float64) float64 {
	points := slices.DeleteFunc(slices.Clone(c.points), func(p point) bool { return p.waiters < fewest })
	if len(points) < 2 {
		points = c.points
	}
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		x, y := math.Log(float64(p.waiters)), math.Log(of(p))
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	// The 0 at the end makes 0 of -0.
	return math.Round((n*sxy-sx*sy)/(n*sxx-sx*sx)*10)/10 + 0
}

// at returns the curve's point for so many waiters.
func (c *curve) at(waiters int) point {
	i := slices.IndexFunc(c.points, func(p point) bool { return p.waiters == waiters })
	if i < 0 {
		return point{}
	}
	return c.points[i]
}

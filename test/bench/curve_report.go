package main

import (
	"fmt"
	"math"
	"os"
	"slices"

	"locksmith/test/bench/plot"
)

// reportCurves tells of a number of waiters that all have been measured with, and of
// what their growth comes to.
func (b *bench) reportCurves(t *table, all []*curve) {
	each := func(of func(*curve) float64, g goals) (entries []entry) {
		for _, c := range all {
			entries = append(entries, entry{c.rival, of(c), g[c.name]})
		}
		return entries
	}
	n, most := 0, b.curve[len(b.curve)-1]
	for _, size := range b.curve {
		if size <= mostLoops {
			n = size
		}
	}
	queue := fmt.Sprintf("%d that queue", n)
	t.add("hand-offs a second of "+queue, "%.0f", each(func(c *curve) float64 { return c.at(n).rate }, nil))
	t.add("ms from a release to the next OK of "+queue, "%.2f", each(func(c *curve) float64 { return c.at(n).latency }, nil))
	t.add("ms of processor time for a hand-off of "+queue, "%.2f", each(func(c *curve) float64 { return c.at(n).cpu }, nil))
	linear := goals{localName: {value: atMost(1)}, nfsName: {value: atMost(1)}}
	steady := goals{localName: {value: atMost(0)}, nfsName: {value: atMost(0)}}
	power := fmt.Sprintf(" of n waiters ~ n to the power of (n ≤ %d)", most)
	t.alone("time from a release to the next OK"+power, "%.1f", each(func(c *curve) float64 { return c.growth(point.time) }, linear))
	t.alone("processor time for a hand-off"+power, "%.1f", each(func(c *curve) float64 { return c.growth(point.work) }, linear))
	t.alone("idle context switches a second"+power, "%.1f", each(func(c *curve) float64 { return c.growth(point.stir) }, steady))
}

func (p point) time() float64 { return p.latency }

func (p point) work() float64 { return p.cpu }

// stir counts one switch more, since there may be none.
func (p point) stir() float64 { return 1 + p.idle.switches }

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

// plotCurves draws into the file that was asked for.
func (b *bench) plotCurves(all []*curve) error {
	if b.plot == "" {
		return nil
	}
	panels := []plot.Panel{
		panel("hand-offs a second", all, func(p point) float64 { return p.rate }),
		panel("ms from a release to the next OK (median)", all, point.time),
		panel("ms of processor time of all for a hand-off", all, point.work),
		panel("context switches a second of all, while idle", all, func(p point) float64 { return p.idle.switches }),
	}
	return os.WriteFile(b.plot, plot.Draw("What waiters cost, by their number", "processes that queue for one lock", panels), 0o644)
}

func panel(title string, all []*curve, y func(point) float64) plot.Panel {
	p := plot.Panel{Title: title}
	for _, c := range all {
		line := plot.Curve{Name: c.name}
		for _, at := range c.points {
			if v := y(at); !math.IsNaN(v) {
				line.Points = append(line.Points, plot.Point{X: float64(at.waiters), Y: v})
			}
		}
		p.Curves = append(p.Curves, line)
	}
	return p
}

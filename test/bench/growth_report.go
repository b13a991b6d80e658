package main

import "fmt"

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

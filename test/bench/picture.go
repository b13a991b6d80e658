package main

import (
	"math"
	"os"

	"locksmith/test/bench/plot"
)

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

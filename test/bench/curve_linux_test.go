package bench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/test/bench/plot"
)

// A point is the result of so many waiters for a lock. They idle, and then have the lock one
// after the other.
type point struct {
	waiters  int
	switches float64 // of contexts, a second of idling
	busy     float64 // ms of processor time, a second of idling
	rate     float64 // hand-offs a second
	latency  float64 // median of ms from a release to the next OK
	cpu      float64 // ms of all of them for a hand-off, NaN if nobody knows
}

// level has n processes wait for each rival's lock.
func (b *bench) level(of []rival, n int, settle, watch time.Duration) map[string]point {
	points := map[string]point{}
	for _, together := range groups(b.present(of)) {
		queues := b.asleep(together, n)
		before, idle := make([]tally, len(queues)), make([]work, len(queues))
		time.Sleep(settle)
		for i, q := range queues {
			before[i] = q.tally()
		}
		time.Sleep(watch)
		for i, q := range queues {
			idle[i] = q.tally().since(before[i])
		}
		for i, q := range queues {
			p := point{waiters: n, switches: float64(idle[i].switches) / watch.Seconds(), busy: ms(idle[i].ran) / watch.Seconds()}
			p.handOffs(q)
			points[q.name] = p
		}
	}
	return points
}

// groups are groups of rivals whose waiters may wait at the same time.
func groups(of []rival) [][]rival {
	all := [][]rival{nil}
	for _, r := range of {
		if r.apart {
			all = append(all, []rival{r})
		} else {
			all[0] = append(all[0], r)
		}
	}
	return all
}

// handOffs drains a queue, and more like it if it is short.
func (p *point) handOffs(q *queue) {
	latencies, cpu := q.drain()
	for len(latencies) < q.least {
		q = q.asleep([]rival{q.rival}, p.waiters)[0]
		more, used := q.drain()
		latencies, cpu = append(latencies, more...), cpu+used
	}
	sum, n := 0.0, float64(len(latencies))
	for _, l := range latencies {
		sum += l
	}
	p.rate, p.latency, p.cpu = 1000*n/sum, percentile(latencies, 50), cpu/n
	if q.forks {
		p.cpu = math.NaN()
	}
}

// mostLoops is how many mkdir loops the machine can take. Each of their sleeps is a new process,
// so they need the whole machine even while they queue.
const mostLoops = 64

func rate(p point) float64     { return p.rate }
func latency(p point) float64  { return p.latency }
func cpu(p point) float64      { return p.cpu }
func switches(p point) float64 { return p.switches }

// stir counts one switch more, because there may be none.
func stir(p point) float64 { return 1 + p.switches }

// curves measures how the cost of waiters grows with their number. The table has a number of
// waiters with which all rivals were measured, and the growth.
func (b *bench) curves(of []rival) {
	all := map[string][]point{}
	for _, n := range b.sizes {
		able := slices.DeleteFunc(slices.Clone(of), func(r rival) bool { return r.forks && n > mostLoops })
		for name, p := range b.level(able, n, b.steady, b.load) {
			all[name] = append(all[name], p)
		}
	}
	some := slices.DeleteFunc(slices.Clone(b.sizes), func(n int) bool { return n > mostLoops })
	queue := fmt.Sprintf("%d that queue", slices.Max(some))
	at := func(y func(point) float64) values {
		return func(r rival) float64 { return y(all[r.name][len(some)-1]) }
	}
	b.show("hand-offs a second of "+queue, "%.0f", of, at(rate), nil)
	b.show("ms from a release to the next OK of "+queue, "%.2f", of, at(latency), nil)
	b.show("ms of processor time for a hand-off of "+queue, "%.2f", of, at(cpu), nil)
	power := fmt.Sprintf(" of n waiters ~ n to the power of (n ≤ %d)", slices.Max(b.sizes))
	grows := func(what string, y func(point) float64, most string) {
		b.alone(what+power, "%.1f", of, func(r rival) float64 { return growth(all[r.name], y) }, goals{local.name: most, nfs.name: most})
	}
	grows("time from a release to the next OK", latency, "≤ 1")
	grows("processor time for a hand-off", cpu, "≤ 1")
	grows("idle context switches a second", stir, "≤ 0")
	waiters := func(p point) float64 { return float64(p.waiters) }
	b.draw("curves.svg", "What waiters cost, by their number", "processes that queue for one lock", b.present(of), []plot.Panel{
		panel("hand-offs a second", of, all, waiters, rate),
		panel("ms from a release to the next OK (median)", of, all, waiters, latency),
		panel("ms of processor time of all for a hand-off", of, all, waiters, cpu),
		panel("context switches a second of all, while idle", of, all, waiters, switches),
	})
}

// growth is the power of the number of waiters with which something grows, from 8 waiters on: 0
// if it does not grow, 1 if it is twice as much for twice as many. It is the slope of the
// straight line that fits best between the logarithms, to a tenth.
func growth(all []point, of func(point) float64) float64 {
	points := slices.DeleteFunc(slices.Clone(all), func(p point) bool { return p.waiters < 8 })
	if len(points) < 2 {
		points = all
	}
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		x, y := math.Log(float64(p.waiters)), math.Log(of(p))
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	// The 0 at the end makes 0 of -0.
	return math.Round((n*sxy-sx*sy)/(n*sxx-sx*sx)*10)/10 + 0
}

// panel shows a figure's points.
func panel[P any](title string, of []rival, all map[string][]P, x, y func(P) float64) plot.Panel {
	p := plot.Panel{Title: title}
	for _, r := range of {
		line := plot.Curve{Name: strings.TrimPrefix(r.name, "locksmith ")}
		for _, at := range all[r.name] {
			if v := y(at); !math.IsNaN(v) {
				line.Points = append(line.Points, plot.Point{X: x(at), Y: v})
			}
		}
		p.Curves = append(p.Curves, line)
	}
	return p
}

// draw draws the panels into a file, if that is asked for.
func (b *bench) draw(file, heading, x string, of []rival, panels []plot.Panel) {
	svg := plot.Draw(heading, x, panels)
	if lines := bytes.Count(svg, []byte("<polyline")); lines != len(panels)*len(of) {
		b.Errorf("%s: %d curves of %d rivals in %d panels", file, lines, len(of), len(panels))
	}
	if *drawn != "" {
		if err := os.WriteFile(filepath.Join(*drawn, file), svg, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func TestGrowth(t *testing.T) {
	var c []point
	for _, n := range []int{1, 8, 16, 32, 64} {
		c = append(c, point{waiters: n, latency: 3, cpu: 5 * math.Pow(float64(n), 1.5), switches: float64(n) - 1})
	}
	for of, want := range map[float64]float64{growth(c, latency): 0, growth(c, cpu): 1.5, growth(c, stir): 1} {
		if of != want {
			t.Errorf("grows to the power of %g, not %g", of, want)
		}
	}
}

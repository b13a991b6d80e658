package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locksmith/test/lab"
)

// goalLine is how the page shows one of TestGoals.
const goalLine = "| %s | %.2f | %s %g | %s |\n"

// TestGoals prints in six minutes how far the goals for what a run costs are met: ratios to a bare
// spawn and to flock(1) in turns with it, and the memory of waiters. Like TestFigures, it fails for
// what goes wrong, never for a value.
func TestGoals(t *testing.T) {
	lab.NotShort(t, "builds programs, and takes some seconds")
	ours := []rival{local, nfs, flockStays, flockBecomes}
	b := newBench(t, besides)
	if b.excuses[flock.name] != "" {
		lab.Lacking(t, "flock(1) is missing")
	}
	heading := machine()
	var text string
	row := func(figure string, value float64, bound string, goal float64) {
		met := "no"
		if bound == "≤" && value <= goal || bound == "≥" && value >= goal {
			met = "yes"
		}
		text += fmt.Sprintf(goalLine, figure, value, bound, goal, met)
	}
	compare := func(figure string, of []rival, s samples, base rival, bound string, all ...float64) {
		for i, r := range of {
			row(r.name+" "+figure, quotient(s.percentile(50)(r), s.percentile(50)(base)), bound, all[i])
		}
	}
	spawned := []rival{local, nfs, flockBecomes}
	compare("to a bare Go spawn", spawned, b.runs(append([]rival{floor}, spawned...), 100), floor, "≤", 1.55, 1.9, 1.2)
	compare("to flock(1), 8 processes", ours, b.eights(append([]rival{flock}, ours...)), flock, "≥", 0.5, 0.45, 0.5, 0.6)
	crowd, few := b.crowdsOf(append([]rival{flock}, ours[:2]...))
	compare("to flock(1), 600 at once", ours[:2], crowd, flock, "≥", 0.42, 0.33)
	for i, r := range ours[:2] {
		row(r.name+" 600 at once to 50 at once", quotient(crowd.percentile(50)(r), few.percentile(50)(r)), "≥", []float64{0.9, 0.85}[i])
	}
	row("MiB (PSS) of the largest of ten waiters", max(b.largestWaiter(local), b.largestWaiter(nfs)), "≤", 1.35)
	row("client.Pool to client.Acquire, p50", b.poolToAcquire(t), "≤", 0.2)
	fmt.Printf("\n%s, afterwards %s:\n\n| figure | value | goal | met |\n| --- | --- | --- | --- |\n%s", heading, firstWord("/proc/loadavg"), text)
}

// runs are the milliseconds of runs of true(1), in turns.
func (b *bench) runs(of []rival, n int) samples {
	times, locks := samples{}, b.lock()
	for range min(n, b.spawns) {
		for j, r := range of {
			took, _ := b.once(b.fill(with(r.run, "/bin/true"), fmt.Sprintf("%s-%d", locks, j)))
			times.add(r, ms(took))
		}
	}
	return times
}

// eights are the increments a second of eight processes that want one lock, each time for a command.
func (b *bench) eights(of []rival) samples {
	rates := samples{}
	for range b.rounds {
		for _, r := range of {
			a, err := b.race(r, 8, incrementing)
			if err != nil {
				b.Fatalf("8 processes with %s: %v", r.name, err)
			}
			rates.add(r, float64(a.increments)/a.took.Seconds())
		}
	}
	return rates
}

// crowdsOf are the hand-offs a second of the larger and the smaller crowd that come at once.
func (b *bench) crowdsOf(of []rival) (large, small samples) {
	large, small = samples{}, samples{}
	for range b.rounds {
		for _, r := range of {
			rate, _ := b.atOnce(r, b.masses[0])
			large.add(r, rate)
			rate, _ = b.atOnce(r, min(50, b.masses[0]))
			small.add(r, rate)
		}
	}
	return large, small
}

// largestWaiter is the memory of the largest of ten that wait for a lock.
func (b *bench) largestWaiter(r rival) float64 {
	q := b.enqueue(r, 10)
	q.fallAsleep()
	time.Sleep(b.settle)
	var sizes []float64
	for _, w := range q.waiting {
		size, err := pss(w.PID())
		if err != nil {
			b.Fatal(err)
		}
		sizes = append(sizes, size)
	}
	q.drain()
	return slices.Max(sizes)
}

// poolToAcquire compares the median of both ways in which package client takes a free lock.
func (b *bench) poolToAcquire(t *testing.T) float64 {
	ways := passages(t)[:2]
	ways[1].alone(t, 1) // until its helpers are there
	took := samples{}
	for range b.rounds {
		for _, w := range ways {
			took[w.name] = append(took[w.name], w.alone(t, min(100, b.spawns))...)
		}
	}
	return quotient(percentile(took[ways[1].name], 50), percentile(took[ways[0].name], 50))
}

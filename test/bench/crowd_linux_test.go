package bench

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/test/bench/plot"
)

var chosenSizes = flag.String("sizes", "", "of the figures queue and crowds: `numbers` of processes, as in 10,50, instead of those of the plan")

// A stand is the result of so many processes of one rival: when they come at once, each for a
// command, and then as a queue behind a holder of the lock.
type stand struct {
	n        int
	rate     float64 // hand-offs a second, of those that come at once
	cpu      float64 // ms of processor time for each of them, all that it starts included
	p50, p99 float64 // ms from a release to the next OK, of those that queue
	places   samples // between coming and having the lock, of those that queue
}

// together starts commands side by side and fails if one of them does. Each has its number
// as its last argument.
const together = `n=$1 all=; shift
while [ $n -gt 0 ]; do "$@" $n & all="$all $!" n=$((n-1)); done
for p in $all; do wait $p || exit; done`

// queues measures how the cost of a hand-off grows with the number of waiters.
func (b *bench) queues(of []rival) {
	sizes := b.queueSizes()
	all := map[string][]stand{}
	for _, n := range sizes {
		for _, r := range b.present(of) {
			if r.most == 0 || n <= r.most {
				all[r.name] = append(all[r.name], b.stand(r, n))
			}
		}
	}
	of = slices.DeleteFunc(b.present(of), func(r rival) bool { return len(all[r.name]) == 0 })
	base := max(slices.Index(sizes, 50), 0)
	short := slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > mostPollers })
	shown := []int{slices.Max(sizes)}
	if len(short) > 0 && slices.Max(short) != shown[0] {
		shown = append(shown, slices.Max(short))
	}
	for _, n := range shown {
		b.showStands(of, all, slices.Index(sizes, n), base)
	}
	b.draw("queues.svg", "What a hand-off costs, by the number that want the lock", "processes", of, []plot.Panel{
		panel("hand-offs a second, all come at once", of, all, count, func(s stand) float64 { return s.rate }),
		panel("ms of processor time for one of those", of, all, count, func(s stand) float64 { return s.cpu }),
		panel("ms from a release to the next OK (median)", of, all, count, func(s stand) float64 { return s.p50 }),
		panel("the same, 99 of 100", of, all, count, func(s stand) float64 { return s.p99 }),
	})
}

func count(s stand) float64 { return float64(s.n) }

// queueSizes are the sizes of the plan, or those that the flag says.
func (b *bench) queueSizes() []int { return b.chosen(b.lines) }

// chosen are the sizes that the flag says, or else these.
func (b *bench) chosen(planned []int) []int {
	if *chosenSizes == "" {
		return planned
	}
	var sizes []int
	for word := range strings.SplitSeq(*chosenSizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			b.Fatalf("-sizes %s: %q is no number of processes", *chosenSizes, word)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// stand measures one rival.
func (b *bench) stand(r rival, n int) stand {
	rates, costs, waits, places := samples{}, samples{}, samples{}, samples{}
	for range b.rounds {
		rate, cpu := b.atOnce(r, n)
		rates.add(r, rate)
		costs.add(r, cpu)
		q := b.asleep([]rival{r}, n)[0]
		latencies, _ := q.drain()
		waits.add(r, latencies...)
		places.add(r, q.moved...)
	}
	s := stand{n, rates.percentile(50)(r), costs.percentile(50)(r), waits.percentile(50)(r), waits.percentile(99)(r), places}
	b.Logf("%s, %d: %.0f hand-offs a second, %.2f ms of processor time for each; from a release to the next OK %.2f ms, p99 %.2f ms; %.0f places off the order of coming, p99 %.0f",
		r.name, n, s.rate, s.cpu, s.p50, s.p99, places.percentile(50)(r), places.percentile(99)(r))
	return s
}

// atOnce has n processes come at once to increment a counter.
func (b *bench) atOnce(r rival, n int) (rate, cpu float64) {
	lock := b.lock()
	l, err := newLedger(lock + "-ledger")
	if err != nil {
		b.Fatal(err)
	}
	argv := with([]string{"sh", "-c", together, "sh", strconv.Itoa(n)}, b.fill(r.run, lock)...)
	took, used := b.once(with(argv, "sh", "-c", increment, string(l)))
	a, err := l.account()
	if err == nil {
		err = l.check(false)
	}
	if err != nil || a.increments != n {
		b.Fatalf("%d at once with %s: %d increments, %v", n, r.name, a.increments, err)
	}
	b.mustBeReleased(r, lock)
	return float64(n) / took.Seconds(), ms(used) / float64(n)
}

// crowded measures crowds that come at once, in turns. Some rivals have a goal for the smaller
// crowd, others for both.
func (b *bench) crowded(of []rival) {
	for _, n := range b.chosen(b.masses) {
		rates := samples{}
		for range b.rounds {
			for _, r := range b.present(of) {
				rate, _ := b.atOnce(r, n)
				rates.add(r, rate)
			}
		}
		goal := "nfs: ≥ 0.33x"
		if n == b.masses[0] {
			goal += ", flock: ≥ 0.6x, flock: -F ≥ 0.6x"
		}
		b.medians(fmt.Sprintf("hand-offs a second of %d that come at once", n), "%.0f", of, rates, goals{flock.name: goal})
	}
}

// showStands adds the rows of one size, of the rivals that were measured with it, and their
// ratios to those of the base size.
func (b *bench) showStands(of []rival, all map[string][]stand, at, base int) {
	of = slices.DeleteFunc(slices.Clone(of), func(r rival) bool { return len(all[r.name]) <= at })
	value := func(y func(stand) float64) values { return func(r rival) float64 { return y(all[r.name][at]) } }
	grown := func(y func(stand) float64) values {
		return func(r rival) float64 { return quotient(y(all[r.name][at]), y(all[r.name][base])) }
	}
	place := func(p float64) values {
		return func(r rival) float64 { return all[r.name][at].places.percentile(p)(r) }
	}
	rate, cpu := func(s stand) float64 { return s.rate }, func(s stand) float64 { return s.cpu }
	sizes := b.queueSizes()
	n, to := sizes[at], fmt.Sprintf(", %d at once beside %d at once", sizes[at], sizes[base])
	flat, cheap := goals{}, goals{local.name: "≤ 1.3", nfs.name: "≤ 1.3"}
	for _, r := range of {
		if r.scheme != "" {
			flat[r.name] = "≥ 0.8"
		}
	}
	b.show(fmt.Sprintf("hand-offs a second of %d that come at once", n), "%.0f", of, value(rate), goals{flock.name: "≥ 0.33x"})
	b.alone("hand-offs a second"+to, "%.2f", of, grown(rate), flat)
	b.show(fmt.Sprintf("ms of processor time for a hand-off of %d that come at once", n), "%.2f", of, value(cpu), nil)
	b.alone("ms of processor time for a hand-off"+to, "%.2f", of, grown(cpu), cheap)
	b.show(fmt.Sprintf("ms from a release to the next OK of %d behind one, p50", n), "%.2f", of, value(func(s stand) float64 { return s.p50 }), nil)
	b.show(fmt.Sprintf("ms from a release to the next OK of %d behind one, p99", n), "%.2f", of, value(func(s stand) float64 { return s.p99 }), nil)
	b.alone(fmt.Sprintf("places between coming and having the lock of %d behind one, p50", n), "%.0f", of, place(50), nil)
	b.alone(fmt.Sprintf("places between coming and having the lock of %d behind one, p99", n), "%.0f", of, place(99), nil)
}

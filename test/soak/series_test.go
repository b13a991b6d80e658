package soak

import (
	"fmt"
	"slices"
)

// A series is the samples of one keeper, in order.
type series []sample

// A quantity is something in a sample that should not grow.
type quantity struct {
	name string
	of   func(sample) float64
	may  float64 // grow by so much, from the first quarter to the last
}

// quantities are those that must not grow.
//
//   - A leak of descriptors is many. A connection that is just being made anew is a few.
//   - The Go runtime starts a thread when all are in system calls, and keeps it; chance
//     decides when it has enough of them.
//   - Visitors come and go, and so do their names and connections. What one leaves who is
//     killed as soon as it waits is swept when its lease is over: in that time there may
//     be half a dozen, with up to four names each.
func (p plan) quantities() []quantity {
	return []quantity{
		{"PSS KiB", func(s sample) float64 { return s.memory }, p.grows},
		{"private KiB", func(s sample) float64 { return s.private }, p.grows},
		{"descriptors", func(s sample) float64 { return s.files }, 3},
		{"threads", func(s sample) float64 { return s.threads }, 2},
		{"entries", func(s sample) float64 { return s.entries }, 24},
		{"connections", func(s sample) float64 { return s.clients }, 4},
	}
}

// A trend is the medians of the quarters of a series.
type trend [4]float64

// growth is how much more there was in the last quarter than in the first, if there was
// more in each than in the one before. What Go keeps of freed memory goes up and down by
// some 100 KiB, as chance has it; what leaks only goes up.
func (t trend) growth() float64 {
	if t[0] < t[1] && t[1] < t[2] && t[2] < t[3] {
		return t[3] - t[0]
	}
	return 0
}

func (t trend) String() string {
	if slices.Min(t[:]) == slices.Max(t[:]) {
		return fmt.Sprintf("%.0f", t[0])
	}
	return fmt.Sprintf("%.0f %.0f %.0f %.0f", t[0], t[1], t[2], t[3])
}

// settled is the series without its first third, in which everything warms up.
func (s series) settled() series { return s[len(s)/3:] }

func (s series) trend(of func(sample) float64) (t trend) {
	for i := range t {
		t[i] = s[i*len(s)/4 : (i+1)*len(s)/4].median(of)
	}
	return t
}

func (s series) median(of func(sample) float64) float64 {
	var all []float64
	for _, one := range s {
		all = append(all, of(one))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// load is the processor time that was spent in each second of the first half, and of
// the second, in milliseconds.
func (s series) load() (first, second float64) {
	middle := len(s) / 2
	return s[:middle+1].rate(), s[middle:].rate()
}

func (s series) rate() float64 {
	first, last := s[0], s[len(s)-1]
	return (last.cpu - first.cpu) / last.at.Sub(first.at).Seconds()
}

// check returns what has grown.
func (p plan) check(s series) (grown []string) {
	s = s.settled()
	for _, q := range p.quantities() {
		if t := s.trend(q.of); t.growth() > q.may {
			grown = append(grown, fmt.Sprintf("%s: %v, may grow by %.0f", q.name, t, q.may))
		}
	}
	if first, second := s.load(); second > 3*first+idle {
		grown = append(grown, fmt.Sprintf("milliseconds of processor time a second: %.1f → %.1f", first, second))
	}
	return grown
}

// idle is the load, in milliseconds a second, that is none: the kernel counts in tens.
const idle = 10

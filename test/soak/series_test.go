//go:build linux

package soak

import (
	"fmt"
	"slices"
	"strings"
)

// A series is the samples of one holder, in order.
type series []sample

// A trend is the medians of equal parts of a series, in order.
type trend [8]float64

// growth returns how much more there is at the end than at the beginning: the amount that seven
// in ten pairs of parts show at least. So a dip in one part does not hide that the others grow,
// and a single rise at some moment is no growth. The freed memory that Go keeps goes up and down
// by some 100 KiB, as chance has it; what leaks goes up.
func (t trend) growth() float64 {
	var slopes []float64
	for j, later := range t {
		for i, earlier := range t[:j] {
			slopes = append(slopes, (later-earlier)/float64(j-i))
		}
	}
	slices.Sort(slopes)
	return slopes[len(slopes)*3/10] * float64(len(t)-1)
}

func (t trend) String() string {
	if slices.Min(t[:]) == slices.Max(t[:]) {
		return fmt.Sprintf("%.0f", t[0])
	}
	return strings.Trim(fmt.Sprintf("%.0f", [8]float64(t)), "[]")
}

// settled returns the series without its first third, in which everything warms up.
func (s series) settled() series { return s[len(s)/3:] }

func (s series) trend(quantity int) (t trend) {
	for i := range t {
		var all []float64
		for _, one := range s[i*len(s)/len(t) : (i+1)*len(s)/len(t)] {
			all = append(all, one.has[quantity])
		}
		slices.Sort(all)
		t[i] = all[len(all)/2]
	}
	return t
}

// load is the processor time that was spent in each second of the first half, and of
// the second, in milliseconds.
func (s series) load() (first, second float64) {
	rate := func(s series) float64 {
		first, last := s[0], s[len(s)-1]
		return (last.cpu - first.cpu) / last.at.Sub(first.at).Seconds()
	}
	middle := len(s) / 2
	return rate(s[:middle+1]), rate(s[middle:])
}

// idle is the load, in milliseconds a second, that counts as none: the kernel counts in steps of
// ten.
const idle = 10

// check returns what has grown by more than it may, from the first part to the last.
//
//   - A leak of descriptors is many. A connection that is just being made anew is a few.
//   - The Go runtime starts a thread when all are in system calls, and keeps it; chance
//     decides when it has enough of them.
//   - Visitors come and go, and so do their names and connections. What one leaves who is
//     killed as soon as it waits is swept when its lease is over: in that time there may
//     be half a dozen, with up to four names each.
//   - What tries remember is a file for each lock, and one that is just being written.
func (p plan) check(s series) (grown []string) {
	may := [quantities]float64{memory: p.grows, private: p.grows, descriptors: 3, threads: 2, names: 24, connections: 4, remembered: 4}
	s = s.settled()
	if len(s) < len(trend{}) {
		return []string{fmt.Sprintf("nobody knows, from %d samples", len(s))}
	}
	for q, name := range quantityNames {
		if t := s.trend(q); t.growth() > may[q] {
			grown = append(grown, fmt.Sprintf("%s: %v, may grow by %.0f", name, t, may[q]))
		}
	}
	if first, second := s.load(); second > 3*first+idle {
		grown = append(grown, fmt.Sprintf("milliseconds of processor time a second: %.1f → %.1f", first, second))
	}
	return grown
}

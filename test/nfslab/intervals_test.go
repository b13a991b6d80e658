//go:build linux

package nfslab

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"locksmith/test/lab/holds"
)

// check makes sure that nobody had the lock beside an exclusive holder, and that
// tokens rise, which only nfs: has.
func (h *history) check(t *testing.T, tokens bool) {
	t.Helper()
	holds.Judge(t, h.held, tokens)
}

func (h *history) sort() {
	slices.SortFunc(h.held, func(a, b holds.Hold) int { return cmp.Compare(a.Start, b.Start) })
}

// longestStall returns the longest time in which somebody wanted the lock and
// nobody got it, and who wanted it. That all who wanted it were killed one after
// the other, and came back slowly, is not the lock's fault.
func (h *history) longestStall(pauses *standstill) (stall time.Duration, who holds.Hold) {
	h.sort()
	for _, w := range h.wants {
		since := w.Start
		for _, got := range append(h.takesIn(w), w.End) {
			if d := pauses.without(since, got); d > stall {
				stall, who = d, holds.Hold{Who: w.Who, Shared: w.Shared, Start: since, End: got}
			}
			since = got
		}
	}
	return stall, who
}

// takesIn lists when anybody got the lock during an interval.
func (h *history) takesIn(w holds.Hold) []time.Duration {
	var all []time.Duration
	for _, i := range h.held {
		if i.Start > w.Start && i.Start < w.End {
			all = append(all, i.Start)
		}
	}
	return all
}

// rate describes how fast it went.
func (h *history) rate() string {
	if len(h.held) < 2 {
		return "no rate"
	}
	h.sort()
	took := h.held[len(h.held)-1].Start - h.held[0].Start
	return fmt.Sprintf("%d acquisitions in %.1f s", len(h.held), took.Seconds())
}

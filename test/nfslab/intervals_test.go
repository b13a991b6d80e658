//go:build linux

package nfslab

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

// check makes sure that nobody had the lock beside an exclusive holder, and that
// tokens rise.
func (h *history) check(t *testing.T) {
	t.Helper()
	h.sort()
	reported := 0
	for i, a := range h.held {
		for _, b := range h.held[i+1:] {
			if fault := conflict(a, b); fault != "" && reported < 10 {
				t.Errorf("%s:\n  %v\n  %v", fault, a, b)
				reported++
			}
		}
	}
}

func (h *history) sort() {
	slices.SortFunc(h.held, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
}

// conflict says what is wrong with two holders, the first of which began first.
func conflict(a, b interval) string {
	alone := a.mode != "shared" || b.mode != "shared"
	apart := a.end <= b.start
	switch {
	case alone && !apart:
		return "two holders"
	case a.mode == tokenless:
	case a.token == 0 || b.token == 0:
		return "no token"
	case alone && a.token >= b.token, apart && a.token > b.token:
		return "the token does not rise"
	}
	return ""
}

// together counts the pairs of holders that had the lock at the same time.
func (h *history) together() int {
	pairs := 0
	for i, a := range h.held {
		for _, b := range h.held[i+1:] {
			if a.start < b.end && b.start < a.end {
				pairs++
			}
		}
	}
	return pairs
}

// longestStall returns the longest time in which somebody wanted the lock and
// nobody got it, and who wanted it. That all who wanted it were killed one after
// the other, and came back slowly, is not the lock's fault.
func (h *history) longestStall(pauses *standstill) (stall time.Duration, who interval) {
	h.sort()
	for _, w := range h.wants {
		since := w.start
		for _, got := range append(h.takesIn(w), w.end) {
			if d := pauses.without(since, got); d > stall {
				stall, who = d, interval{w.who, w.mode, since, got, 0}
			}
			since = got
		}
	}
	return stall, who
}

// takesIn lists when anybody got the lock during an interval.
func (h *history) takesIn(w interval) []time.Duration {
	var all []time.Duration
	for _, i := range h.held {
		if i.start > w.start && i.start < w.end {
			all = append(all, i.start)
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
	took := h.held[len(h.held)-1].start - h.held[0].start
	return fmt.Sprintf("%d acquisitions in %.1f s", len(h.held), took.Seconds())
}

func (i interval) String() string {
	return fmt.Sprintf("%s, %s, token %d, %.6f..%.6f", i.who, i.mode, i.token, i.start.Seconds(), i.end.Seconds())
}

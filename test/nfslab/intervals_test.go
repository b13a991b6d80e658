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

// longestGap returns the longest time in which nobody got the lock.
func (h *history) longestGap(pauses *standstill) (gap time.Duration, before interval) {
	h.sort()
	for i := 1; i < len(h.held); i++ {
		if d := pauses.without(h.held[i-1].start, h.held[i].start); d > gap {
			gap, before = d, h.held[i-1]
		}
	}
	return gap, before
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

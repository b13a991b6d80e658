package main

import (
	"fmt"
	"math"
)

// A bound is a limit that a value should keep. Nil is none.
type bound struct {
	limit float64
	least bool
}

func atMost(most float64) *bound   { return &bound{limit: most} }
func atLeast(least float64) *bound { return &bound{limit: least, least: true} }

func (b *bound) holds(v float64) bool {
	switch {
	case b == nil:
		return true
	case b.least:
		return v >= b.limit
	}
	return v <= b.limit
}

func (b *bound) String() string {
	if b.least {
		return fmt.Sprintf("≥ %g", b.limit)
	}
	return fmt.Sprintf("≤ %g", b.limit)
}

// A goal is what a value should come to, or our ratios to it.
type goal struct {
	value, local, nfs *bound
}

// goals are by the rival's name.
type goals map[string]goal

func (g goal) String() string {
	switch {
	case g.value != nil:
		return g.value.String()
	case g.local == nil && g.nfs == nil:
		return "-"
	case g.nfs == nil:
		return "local: " + g.local.String() + "x"
	case g.local == nil:
		return "nfs: " + g.nfs.String() + "x"
	case *g.local == *g.nfs:
		return g.local.String() + "x"
	}
	return "local: " + g.local.String() + "x, nfs: " + g.nfs.String() + "x"
}

// verdict is what became of the goal, for a value and our ratios to it.
func (g goal) verdict(value, local, nfs float64) string {
	if g == (goal{}) || g.value == nil && math.IsNaN(local) && math.IsNaN(nfs) {
		return "-"
	}
	one, other := g.local.holds(local), g.nfs.holds(nfs)
	switch {
	case !g.value.holds(value), !one && !other, !one && g.nfs == nil, !other && g.local == nil:
		return "no"
	case !one:
		return "no, by local:"
	case !other:
		return "no, by nfs:"
	}
	return "yes"
}

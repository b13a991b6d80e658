package main

import (
	"fmt"
	"strings"
	"time"

	"locksmith/test/explorer/explore"
)

// describe is one line about an exploration.
func describe(r explore.Result) string {
	how := fmt.Sprintf("cut at depth %d", r.Depth)
	switch {
	case r.Complete:
		how = fmt.Sprintf("complete, depth %d", r.Depth)
	case r.Walks > 0:
		how = fmt.Sprintf("%d walks, the longest of %d steps", r.Walks, r.Depth)
	}
	known := 0
	for _, n := range r.Limits {
		known += n
	}
	if known > 0 {
		how += fmt.Sprintf(", known limits met %d times", known)
	}
	for _, what := range r.Missed {
		how += fmt.Sprintf(", NOT MET: %s", what)
	}
	return fmt.Sprintf("%-20s %9d states %9d steps %5d settled %7.1fs  %s", r.Name, r.States, r.Steps, r.Settled, r.Took.Seconds(), how)
}

// Of a long counterexample, which ends in everybody's waiting, the first and the
// last steps are shown.
const (
	head = 120
	tail = 30
)

// story is a violation and the numbered steps that lead to it.
func story(v *explore.Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "VIOLATION: %s\n", v.What)
	for i, s := range v.Steps {
		if i < head || i >= len(v.Steps)-tail {
			fmt.Fprintf(&b, "  %3d  %s\n", i+1, s)
		}
	}
	return b.String()
}

// total adds up.
func total(all []explore.Result, took time.Duration) {
	var states, steps uint64
	for _, r := range all {
		states, steps = states+r.States, steps+r.Steps
	}
	fmt.Printf("in all %d states, %d steps in %.1fs: %.0f states/s\n", states, steps, took.Seconds(), float64(states)/took.Seconds())
}

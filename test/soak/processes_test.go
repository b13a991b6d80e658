//go:build linux

package soak

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"locksmith/test/lab"
)

// TestProcesses: a helper that holds a lock for long, while others come and go, needs no more of
// anything as time goes by.
func TestProcesses(t *testing.T) {
	lab.NotShort(t, "it builds a program, and watches processes for a while")
	plan := chosenPlan(t)
	var all []*holder
	for _, p := range places(t) {
		all = append(all, p.keep(t, lab.Program(t, "cmd/locksmith")))
	}
	took, stood := plan.soak(t, all)
	for _, k := range all {
		k.release(t)
	}
	t.Logf("\n%s", table(all))
	for _, k := range all {
		k.check(t, took, stood)
		for _, grown := range plan.check(k.samples) {
			t.Errorf("%s: %s", k.name, grown)
		}
	}
}

// soak lets visitors come for the plan's period, and takes samples. It returns when the last
// visitor has gone: how long it took, and for how much of that time the system did not let this
// process run.
func (p plan) soak(t *testing.T, all []*holder) (took, stood time.Duration) {
	t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), p.period)
	defer cancel()
	var visiting sync.WaitGroup
	for _, k := range all {
		visiting.Go(func() { k.visitors.come(ctx, t, p.pause) })
	}
	for ctx.Err() == nil && !t.Failed() {
		for _, k := range all {
			k.look(t)
		}
		slept := time.Now()
		rest(ctx, p.every)
		if late := time.Since(slept) - p.every; late > time.Second {
			stood += late
		}
	}
	cancel()
	visiting.Wait()
	return time.Since(begin), stood
}

// rest waits for d, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// table shows what was seen: each quantity in each part of the time after the warm-up.
func table(all []*holder) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "place\tvisits\theartbeats\tlongest gap\tCPU ms/s\t", strings.Join(quantityNames[:], "\t"))
	for _, k := range all {
		s := k.samples.settled()
		before, after := s.load()
		fmt.Fprintf(w, "\n%s\t%d\t%d\t%v\t%.1f → %.1f", k.name, k.visitors.visits.Load(), k.beats.Load(),
			k.longest().Round(time.Millisecond), before, after)
		for q := range quantityNames {
			fmt.Fprint(w, "\t", s.trend(q))
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

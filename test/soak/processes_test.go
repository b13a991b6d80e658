package soak

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"locksmith/test/programs"
)

// TestProcesses: whoever holds a lock for long, while others come and go, needs no more
// of anything as time goes by.
func TestProcesses(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds a program and reads Linux's /proc")
	}
	helper := programs.Static("locksmith/cmd/locksmith")
	defer helper.Remove()
	r := &soak{plan: chosenPlan(t), t: t, program: helper.Path(t, "locksmith")}
	for _, p := range places(t) {
		r.fill(p)
	}
	r.run()
	r.release()
	t.Logf("\n%s", r.table())
	r.check()
}

// A soak is one run of TestProcesses.
type soak struct {
	plan
	t        *testing.T
	program  string
	holders  []*holder
	visitors []*visitors
	samples  []series // one for each holder
	took     time.Duration
}

// fill adds a place with its holder.
func (r *soak) fill(p place) {
	r.t.Helper()
	// It ends before the place is removed.
	k, err := p.keep(r.t.Context(), r.program)
	if err != nil {
		r.t.Fatal(err)
	}
	r.holders = append(r.holders, k)
	r.visitors = append(r.visitors, &visitors{place: p, program: r.program, pause: r.pause})
	r.samples = append(r.samples, nil)
}

// run lets visitors come for the period, and takes samples. It returns when the last
// of them has gone.
func (r *soak) run() {
	r.t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(r.t.Context(), r.period)
	defer cancel()
	var visiting sync.WaitGroup
	for _, v := range r.visitors {
		visiting.Go(func() {
			if err := v.come(ctx); err != nil {
				r.t.Error(err)
				cancel()
			}
		})
	}
	for ctx.Err() == nil {
		r.look()
		rest(ctx, r.every)
	}
	visiting.Wait()
	r.took = time.Since(begin)
}

func (r *soak) look() {
	r.t.Helper()
	for i, k := range r.holders {
		s, err := k.look()
		if err != nil {
			r.t.Fatal(err)
		}
		r.samples[i] = append(r.samples[i], s)
	}
}

// release ends all holders.
func (r *soak) release() {
	r.t.Helper()
	for _, k := range r.holders {
		if err := k.release(); err != nil {
			r.t.Errorf("%s: %v", k.name, err)
		}
	}
}

func (r *soak) check() {
	r.t.Helper()
	for i, k := range r.holders {
		if err := k.check(r.took); err != nil {
			r.t.Errorf("%s: %v", k.name, err)
		}
		for _, grown := range r.plan.check(r.samples[i]) {
			r.t.Errorf("%s: %s", k.name, grown)
		}
	}
}

// table tells what was seen, each quantity in the quarters of the time after the warm-up.
func (r *soak) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "place\tvisits\theartbeats\tlongest gap\tCPU ms/s")
	for _, q := range r.quantities() {
		fmt.Fprint(w, "\t", q.name)
	}
	for i, k := range r.holders {
		s := r.samples[i].settled()
		before, after := s.load()
		fmt.Fprintf(w, "\n%s\t%d\t%d\t%v\t%.1f → %.1f", k.name, r.visitors[i].visits.Load(), k.beats.Load(),
			k.longest().Round(time.Millisecond), before, after)
		for _, q := range r.quantities() {
			fmt.Fprint(w, "\t", s.trend(q.of))
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

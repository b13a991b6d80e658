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
	b := &bath{plan: chosenPlan(t), t: t, program: helper.Path(t, "locksmith")}
	for _, p := range places(t) {
		b.fill(p)
	}
	b.soak()
	b.release()
	t.Logf("\n%s", b.table())
	b.check()
}

// A bath is all that soaks.
type bath struct {
	plan
	t        *testing.T
	program  string
	keepers  []*keeper
	visitors []*visitors
	samples  []series // one for each keeper
	took     time.Duration
}

// fill adds a place with its keeper.
func (b *bath) fill(p place) {
	b.t.Helper()
	// It ends before the place is removed.
	k, err := p.keep(b.t.Context(), b.program)
	if err != nil {
		b.t.Fatal(err)
	}
	b.keepers = append(b.keepers, k)
	b.visitors = append(b.visitors, &visitors{place: p, program: b.program, pause: b.pause})
	b.samples = append(b.samples, nil)
}

// soak lets visitors come for the period, and takes samples. It returns when the last
// of them has gone.
func (b *bath) soak() {
	b.t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(b.t.Context(), b.period)
	defer cancel()
	var visiting sync.WaitGroup
	for _, v := range b.visitors {
		visiting.Go(func() {
			if err := v.come(ctx); err != nil {
				b.t.Error(err)
				cancel()
			}
		})
	}
	for ctx.Err() == nil {
		b.look()
		rest(ctx, b.every)
	}
	visiting.Wait()
	b.took = time.Since(begin)
}

func (b *bath) look() {
	b.t.Helper()
	for i, k := range b.keepers {
		s, err := k.look()
		if err != nil {
			b.t.Fatal(err)
		}
		b.samples[i] = append(b.samples[i], s)
	}
}

// release ends all keepers.
func (b *bath) release() {
	b.t.Helper()
	for _, k := range b.keepers {
		if err := k.release(); err != nil {
			b.t.Errorf("%s: %v", k.name, err)
		}
	}
}

func (b *bath) check() {
	b.t.Helper()
	for i, k := range b.keepers {
		if err := k.check(b.took); err != nil {
			b.t.Errorf("%s: %v", k.name, err)
		}
		for _, grown := range b.plan.check(b.samples[i]) {
			b.t.Errorf("%s: %s", k.name, grown)
		}
	}
}

// table tells what was seen, each quantity in the quarters of the time after the warm-up.
func (b *bath) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "place\tvisits\theartbeats\tlongest gap\tCPU ms/s")
	for _, q := range b.quantities() {
		fmt.Fprint(w, "\t", q.name)
	}
	for i, k := range b.keepers {
		s := b.samples[i].settled()
		before, after := s.load()
		fmt.Fprintf(w, "\n%s\t%d\t%d\t%v\t%.1f → %.1f", k.name, b.visitors[i].visits.Load(), k.beats.Load(),
			k.longest().Round(time.Millisecond), before, after)
		for _, q := range b.quantities() {
			fmt.Fprint(w, "\t", s.trend(q.of))
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

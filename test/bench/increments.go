package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// workers is how many processes contend for the counter's lock.
const workers = 8

// increment is not atomic, and leaves others time to come in between.
const increment = `read n <"$0"; echo $((n+1)) >"$0"`

// increments measures how often a second contending processes get a lock.
func (b *bench) increments(ctx context.Context, t *table) error {
	loop, flock := mkdirRival(), b.flockRival()
	shared := b.nfsRival()
	rivals := present([]rival{b.locksmithRival(), shared, flock, loop})
	rates := samples{}
	for range b.rounds {
		for _, r := range rivals {
			rate, err := b.race(ctx, r)
			if err != nil {
				return fmt.Errorf("increments with %s: %w", r.name, err)
			}
			rates.add(r, rate)
		}
	}
	f := figure{name: fmt.Sprintf("increments a second, %d processes", workers), format: "%.0f", ours: rates.median("locksmith")}
	t.add(f, opponent{rival: loop, theirs: rates.median(loop.name), goal: atLeast(4)})
	t.add(f, opponent{rival: flock, theirs: rates.median(flock.name)})
	f.name, f.ours = "nfs: the same", rates.median(shared.name)
	t.add(f, opponent{rival: loop, theirs: rates.median(loop.name)})
	if err := b.noReservations("counter-" + shared.name); err != nil {
		return err
	}
	return b.noneLeft("counter-locksmith")
}

// race lets all workers increment for a while, checks that no increment was
// lost, and returns how many there were a second.
func (b *bench) race(ctx context.Context, r rival) (float64, error) {
	counter := b.path("counter")
	if err := os.WriteFile(counter, []byte("0\n"), 0o600); err != nil {
		return 0, err
	}
	total, timely, err := b.rush(ctx, r.argv(b.path("counter-"+r.name), "sh", "-c", increment, counter))
	if err != nil {
		return 0, err
	}
	return float64(timely) / b.plan.contend.Seconds(), checkCounter(counter, total)
}

// rush returns how many runs of a command there were, and how many of them
// ended in time. The stragglers count for correctness only: whose sleep is the
// longest says nothing of the rate.
func (b *bench) rush(ctx context.Context, argv []string) (total, timely int64, err error) {
	var all, early atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	end := time.Now().Add(b.plan.contend)
	for i := range workers {
		wg.Go(func() {
			for errs[i] == nil && time.Now().Before(end) {
				_, errs[i] = b.once(ctx, argv)
				all.Add(1)
				if time.Now().Before(end) {
					early.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return all.Load(), early.Load(), errors.Join(errs...)
}

func checkCounter(path string, want int64) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	got, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return fmt.Errorf("lost update: the counter is torn: %w", err)
	}
	if got != want {
		return fmt.Errorf("lost update: the counter is %d after %d increments", got, want)
	}
	return nil
}

package main

import (
	"context"
	"time"
)

// spawn measures taking a free lock, running true(1) and releasing the lock.
func (b *bench) spawn(ctx context.Context, t *table) error {
	floor, flock := b.floorRival(), b.flockRival()
	rivals := present([]rival{b.locksmithRival(), floor, flock})
	times := samples{}
	for range b.rounds * b.spawns {
		for _, r := range rivals {
			took, err := b.once(ctx, r.argv(b.path("spawn-"+r.name), "true"))
			if err != nil {
				return err
			}
			times.add(r, float64(took)/float64(time.Millisecond))
		}
	}
	if err := b.noneLeft("spawn-locksmith"); err != nil {
		return err
	}
	f := figure{name: "ms to take, run true, release", format: "%.2f", ours: times.median("locksmith")}
	t.add(f, opponent{rival: floor, theirs: times.median(floor.name), goal: atMost(1.25)})
	t.add(f, opponent{rival: flock, theirs: times.median(flock.name)})
	return nil
}

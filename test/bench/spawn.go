package main

import (
	"context"
	"time"
)

// spawn measures taking a free lock, running true(1) and releasing the lock.
func (b *bench) spawn(ctx context.Context, t *table) error {
	all := append([]rival{b.local(), b.nfs(), b.floor(), b.peer(), flock(), setlock(), dotlockfile(), lockfile(), b.mkdirLoop(), b.etcdctl()}, b.libraries(ctx)...)
	times := samples{}
	for i := range b.rounds * b.spawns {
		for j, r := range present(all) {
			if r.slow && i >= slowly(b.rounds*b.spawns) {
				continue
			}
			took, err := b.once(ctx, r.run(b.path(lockName("spawn", j)), "true"))
			if err != nil {
				return err
			}
			times.add(r, float64(took)/float64(time.Millisecond))
		}
	}
	t.medians("ms to take, run true, release", "%.2f", all, times, goals{
		b.floor().name: {local: atMost(1.25), nfs: atMost(1.5)},
	})
	return b.nothingLeft("spawn", present(all))
}

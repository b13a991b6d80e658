package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// memory measures processes that hold a lock each. What they share, such as the
// program's text, is divided among them. Of flock(1) its command is not counted.
func (b *bench) memory(ctx context.Context, t *table) error {
	local, nfs := singleProc(b.local()), singleProc(b.nfs())
	all := []rival{b.local(), b.nfs(), local, nfs, b.floor(), flock()}
	for _, n := range b.helpers {
		largest := samples{}
		for i, r := range present(all) {
			sizes, err := b.sizes(ctx, r, lockName(fmt.Sprintf("memory-%d", n), i), n)
			if err != nil {
				return err
			}
			largest.add(r, slices.Max(sizes))
		}
		g := goals{}
		if n == 10 {
			most := goal{value: atMost(1.6)}
			g = goals{localName: most, nfsName: most, local.name: most, nfs.name: most}
		}
		t.medians(fmt.Sprintf("MiB (PSS) of the largest of %d idle processes that hold a lock", n), "%.2f", all, largest, g)
	}
	return nil
}

// sizes are of processes that hold a lock each at the same time.
func (b *bench) sizes(ctx context.Context, r rival, locks string, n int) (sizes []float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all []*holder
	for i := range n {
		h, err := b.hold(ctx, r.hold(b.path(lockName(locks, i))))
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	if err := sleep(ctx, b.settle); err != nil {
		return nil, err
	}
	for _, h := range all {
		size, e := pss(h.pid())
		sizes, err = append(sizes, size), errors.Join(err, e)
	}
	for i, h := range all {
		err = errors.Join(err, h.release(), r.noneLeft(b.path(lockName(locks, i))))
	}
	return sizes, err
}

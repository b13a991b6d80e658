package main

import (
	"context"
	"fmt"
)

// idle measures what processes do that wait for a lock and should sleep. The lease of
// its holder is long enough to live through the measurement, and so short that
// heartbeats fall into it.
func (b *bench) idle(ctx context.Context, t *table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	askers, err := b.startAskers(ctx)
	if err != nil {
		return err
	}
	sleepers := []rival{b.local(), flock(), setlock(), b.nfs()}
	switches, times := samples{}, samples{}
	// Not ours at the same time: they share what a user may have of inotify.
	for _, together := range [][]rival{present(sleepers[:3]), sleepers[3:]} {
		if err := b.watchQueues(ctx, together, switches, times); err != nil {
			return err
		}
	}
	t.medians(fmt.Sprintf("context switches a second of %d waiters together", b.waiters), "%.1f", sleepers, switches, goals{localName: {value: atMost(0)}})
	t.medians(fmt.Sprintf("ms of processor time a second of %d waiters together", b.waiters), "%.2f", sleepers, times, nil)
	return askers.report(ctx, t)
}

func (b *bench) enqueueAll(ctx context.Context, rivals []rival) ([]*queue, error) {
	var all []*queue
	for _, r := range rivals {
		q, err := b.nextQueue(ctx, r, b.waiters)
		if err != nil {
			return nil, err
		}
		if err := b.asleep(ctx, q.waiting); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// watchQueues looks at a queue for each rival over the same time, and then lets all
// have the lock.
func (b *bench) watchQueues(ctx context.Context, rivals []rival, switches, times samples) error {
	queues, err := b.enqueueAll(ctx, rivals)
	if err != nil {
		return err
	}
	if err := sleep(ctx, b.settle); err != nil {
		return err
	}
	idle, err := loads(ctx, b.watch, queues...)
	if err != nil {
		return err
	}
	for i, q := range queues {
		switches.add(q.rival, idle[i].switches)
		times.add(q.rival, idle[i].cpu)
		if err := q.finish(); err != nil {
			return err
		}
		if err := q.rival.noneLeft(q.lock); err != nil {
			return err
		}
	}
	return nil
}

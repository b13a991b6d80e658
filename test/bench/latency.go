package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// latency measures the time from a release to the OK of the process that waits.
func (b *bench) latency(ctx context.Context, t *table) error {
	all := []rival{b.local(), b.nfs(), flock(), setlock(), b.etcdctl(), b.mkdirLoop()}
	times := samples{}
	if err := b.relays(ctx, present(all), times); err != nil {
		return err
	}
	const what = "ms from release to the next OK, "
	t.percentile(50, what+"p50", "%.2f", all, times, goals{localName: {value: atMost(1)}})
	t.percentile(99, what+"p99", "%.2f", all, times, nil)
	return b.nothingLeft("relay", present(all))
}

// relays has one relay for each rival. All wait for their locks at the same time, and
// one after the other gets it, in any order: one that follows another soon finds the
// processor awake.
func (b *bench) relays(ctx context.Context, rivals []rival, times samples) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	relays := make([]*relay, len(rivals))
	for i, r := range rivals {
		relays[i] = &relay{argv: r.hold(b.path(lockName("relay", i)))}
		if relays[i].holder, err = b.hold(ctx, relays[i].argv); err != nil {
			return err
		}
	}
	for range b.rounds * b.handoffs {
		var waiters []*holder
		for _, r := range relays {
			if r.waiter, err = b.queueUp(ctx, r.argv); err != nil {
				return err
			}
			waiters = append(waiters, r.waiter)
		}
		if err := b.asleep(ctx, waiters); err != nil {
			return err
		}
		for _, i := range rand.Perm(len(relays)) {
			took, err := relays[i].handOver()
			if err != nil {
				return err
			}
			times.add(rivals[i], float64(took)/float64(time.Millisecond))
		}
	}
	for _, r := range relays {
		err = errors.Join(err, r.holder.release())
	}
	return err
}

// A relay is a process that holds a lock and one that waits for it.
type relay struct {
	argv           []string
	holder, waiter *holder
}

// handOver lets the holder go, and returns how soon the waiter had the lock.
func (r *relay) handOver() (time.Duration, error) {
	select {
	case early := <-r.waiter.ok:
		return 0, fmt.Errorf("%q did not wait (%v)", r.argv, early.err)
	default:
	}
	released := time.Now()
	r.holder.letGo()
	got := r.waiter.granted()
	if got.err == nil {
		got.err = r.holder.wait()
	}
	r.holder, r.waiter = r.waiter, nil
	return got.at.Sub(released), got.err
}

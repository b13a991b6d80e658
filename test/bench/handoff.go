package main

import (
	"context"
	"time"
)

// mkdirHold says OK, and holds until its standard input ends.
const mkdirHold = `until mkdir "$0.d" 2>/dev/null; do sleep 0.05; done; echo OK; read x; rmdir "$0.d"; :`

// handoff measures the time from a release to the OK of a process that waits.
func (b *bench) handoff(ctx context.Context, t *table) error {
	ours, loop := rival{name: "locksmith"}, mkdirRival()
	commands := map[string][]string{
		ours.name: {b.locksmith, "hold", "nfs:" + b.path("handoff-lock")},
		loop.name: {"sh", "-c", mkdirHold, b.path("handoff-lock")},
	}
	times := samples{}
	for range b.rounds * b.handoffs {
		for _, r := range []rival{ours, loop} {
			took, err := b.handOver(ctx, commands[r.name])
			if err != nil {
				return err
			}
			times.add(r, float64(took)/float64(time.Millisecond))
		}
	}
	f := figure{name: "nfs: ms from release to the next OK", format: "%.1f", ours: times.median(ours.name)}
	t.add(f, opponent{rival: loop, theirs: times.median(loop.name)})
	return b.noReservations("handoff-lock")
}

// handOver lets one process hold and another wait, and returns how long the
// lock took from one to the other.
func (b *bench) handOver(ctx context.Context, argv []string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	first, err := b.hold(ctx, argv)
	if err != nil {
		return 0, err
	}
	type result struct {
		holder *holder
		at     time.Time
		err    error
	}
	done := make(chan result, 1)
	go func() {
		h, err := b.hold(ctx, argv)
		done <- result{h, time.Now(), err}
	}()
	// Long enough to be waiting for certain; how long matters to neither.
	if err := sleep(ctx, b.contend/2); err != nil {
		cancel()
	}
	released := time.Now()
	err = first.release()
	second := <-done
	if second.err != nil {
		return 0, second.err
	}
	if e := second.holder.release(); err == nil {
		err = e
	}
	return second.at.Sub(released), err
}

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// A point is what so many that queue for a lock come to. They idle, and then have it
// one after the other.
type point struct {
	waiters int
	rate    float64 // hand-offs a second
	cpu     float64 // ms of all of them for a hand-off, NaN if nobody knows
	latency float64 // median of ms from a release to the next OK
	idle    load
}

// A curve is one rival's points.
type curve struct {
	rival
	points []point
}

// mostLoops is how many mkdir loops the machine can take. Each of their sleeps is a new
// process, so that they need it all even while they queue.
const mostLoops = 64

// curves measures how what waiters cost grows with their number.
func (b *bench) curves(ctx context.Context, t *table) error {
	all := []*curve{{rival: b.local()}, {rival: b.nfs()}, {rival: flock()}, {rival: b.mkdirLoop()}}
	for _, n := range b.curve {
		// Not ours at the same time: they share what a user may have of inotify.
		for _, together := range [][]*curve{{all[0], all[2]}, {all[1]}, {all[3]}} {
			if err := b.level(ctx, together, n); err != nil {
				return err
			}
		}
	}
	b.reportCurves(t, all)
	return b.plotCurves(all)
}

// level adds a point to each curve. They idle at the same time, and then their queues
// have their turns; short ones have several, for there are few hand-offs in each.
func (b *bench) level(ctx context.Context, curves []*curve, n int) error {
	curves = slices.DeleteFunc(curves, func(c *curve) bool { return c.missing || c.forks && n > mostLoops })
	if len(curves) == 0 {
		return nil
	}
	idle := b.steady
	queues := make([]*queue, len(curves))
	for i, c := range curves {
		var err error
		if queues[i], err = b.nextQueue(ctx, c.rival, n); err != nil {
			return err
		}
		if c.forks {
			idle = b.steady / 10 // these are as busy as they will ever be
		}
	}
	for _, q := range queues {
		if err := b.started(ctx, q); err != nil {
			return err
		}
	}
	if err := sleep(ctx, idle); err != nil {
		return err
	}
	idling, err := loads(ctx, b.plan.load, queues...)
	if err != nil {
		return err
	}
	for i, c := range curves {
		p := point{waiters: n, idle: idling[i]}
		if err := b.handOffs(ctx, &p, queues[i]); err != nil {
			return fmt.Errorf("%d waiters for %s: %w", n, c.name, err)
		}
		c.points = append(c.points, p)
	}
	return nil
}

// started waits until all in a queue wait.
func (b *bench) started(ctx context.Context, q *queue) error {
	if q.rival.forks {
		return sleep(ctx, b.queue+time.Duration(len(q.waiting))*15*time.Millisecond)
	}
	return b.asleep(ctx, q.waiting)
}

// handOffs drains a queue, and more like it if it is short.
func (b *bench) handOffs(ctx context.Context, p *point, q *queue) error {
	all, cpu, err := q.cost()
	if err != nil {
		return err
	}
	for range 16 / p.waiters {
		q, err := b.nextQueue(ctx, q.rival, p.waiters)
		if err != nil {
			return err
		}
		if err := b.started(ctx, q); err != nil {
			return err
		}
		latencies, used, err := q.cost()
		if err != nil {
			return err
		}
		all, cpu = append(all, latencies...), cpu+used
	}
	p.fill(all, cpu)
	if q.rival.forks {
		p.cpu = math.NaN()
	}
	return nil
}

func (p *point) fill(latencies []time.Duration, cpu time.Duration) {
	var ms []float64
	var sum time.Duration
	for _, l := range latencies {
		ms = append(ms, float64(l)/float64(time.Millisecond))
		sum += l
	}
	p.latency = median(ms)
	p.rate = float64(len(latencies)) / sum.Seconds()
	p.cpu = float64(cpu) / float64(time.Millisecond) / float64(len(latencies))
}

// cost drains a queue, and returns how much processor time its waiters needed for it.
func (q *queue) cost() ([]time.Duration, time.Duration, error) {
	before, err := q.tally()
	if err != nil {
		return nil, 0, err
	}
	latencies, err := q.drain()
	if err != nil {
		return nil, 0, err
	}
	_, already := before.since(nil)
	var all time.Duration
	for _, w := range q.waiting {
		state := w.cmd.ProcessState
		all += state.UserTime() + state.SystemTime()
	}
	return latencies, all - already, nil
}

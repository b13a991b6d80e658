package main

import (
	"context"
	"fmt"
	"time"
)

// idle measures what processes do that wait for a lock and should sleep. The lease of
// its holder is long enough to live through the measurement, and so short that
// heartbeats fall into it.
func (b *bench) idle(ctx context.Context, t *table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pollers, err := b.startPollers(ctx)
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
	return pollers.report(ctx, t)
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

// pollers wait for a lock on an FTP server, where nothing wakes them.
type pollers struct {
	*bench
	rival
	server *ftpServer
	queue  *queue
	since  time.Time
}

// startPollers starts them early, since they slow down for a while.
func (b *bench) startPollers(ctx context.Context) (*pollers, error) {
	p := &pollers{bench: b, rival: rival{name: "locksmith ftp:", missing: true}}
	var err error
	if p.server, err = b.startFTP(ctx); err != nil || p.server == nil {
		return p, err
	}
	p.rival = b.ours(p.rival.name, fmt.Sprintf("ftp://bench@127.0.0.1:%d", p.server.port), func(string) error { return nil })
	p.queue, err = b.enqueue(ctx, p.rival, "/idle", b.waiters)
	p.since = time.Now()
	return p, err
}

// report counts commands once all waiters ask slowly. It does not wait until all of
// them have had the lock.
func (p *pollers) report(ctx context.Context, t *table) error {
	var rate float64
	if !p.missing {
		var err error
		if rate, err = p.rate(ctx); err != nil {
			return err
		}
	}
	t.add(fmt.Sprintf("commands a second to the server of %d waiters together, after %v", p.waiters, p.retire), "%.1f",
		[]entry{{rival: p.rival, value: rate}})
	return nil
}

func (p *pollers) rate(ctx context.Context) (float64, error) {
	if err := sleep(ctx, time.Until(p.since.Add(p.retire))); err != nil {
		return 0, err
	}
	before, err := p.server.commands()
	if err != nil {
		return 0, err
	}
	if err := sleep(ctx, p.watch); err != nil {
		return 0, err
	}
	after, err := p.server.commands()
	p.queue.kill()
	p.server.stop()
	return float64(after-before) / p.watch.Seconds(), err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A queue is a process that holds a lock and those that wait for it.
type queue struct {
	rival   rival
	lock    string
	kill    context.CancelFunc // ends all
	holder  *holder
	waiting []*holder
}

// enqueue starts a queue, which is killed when ctx ends.
func (b *bench) enqueue(ctx context.Context, r rival, lock string, waiters int) (*queue, error) {
	ctx, cancel := context.WithCancel(ctx)
	q := &queue{rival: r, lock: lock, kill: cancel}
	var err error
	if q.holder, err = b.hold(ctx, r.hold(lock)); err != nil {
		cancel()
		return nil, err
	}
	for range waiters {
		w, err := b.queueUp(ctx, r.hold(lock))
		if err != nil {
			cancel()
			return nil, err
		}
		q.waiting = append(q.waiting, w)
	}
	return q, nil
}

// nextQueue is a queue for a lock of its own.
func (b *bench) nextQueue(ctx context.Context, r rival, waiters int) (*queue, error) {
	b.races++
	return b.enqueue(ctx, r, b.path(fmt.Sprintf("queue-%d", b.races)), waiters)
}

// A turn is when somebody in a queue had the lock.
type turn struct {
	who *holder
	result
}

// turns returns in which order those that wait get the lock.
func (q *queue) turns() <-chan turn {
	all := make(chan turn, len(q.waiting))
	for _, w := range q.waiting {
		go func() { all <- turn{w, <-w.ok} }()
	}
	return all
}

// drain lets one after the other have the lock, and returns how long it took from hand
// to hand. All are gone then.
func (q *queue) drain() (latencies []time.Duration, err error) {
	defer q.kill()
	turns, last := q.turns(), q.holder
	select {
	case early := <-turns:
		return nil, fmt.Errorf("somebody did not wait for %s (%v)", q.rival.name, early.err)
	default:
	}
	for range q.waiting {
		released := time.Now()
		last.letGo()
		select {
		case next := <-turns:
			if next.err != nil {
				return nil, next.err
			}
			last, latencies = next.who, append(latencies, next.at.Sub(released))
		case <-time.After(limit):
			return nil, fmt.Errorf("nobody got the lock of %s for %v", q.rival.name, limit)
		}
	}
	last.letGo()
	return latencies, q.gone()
}

// gone waits until all are.
func (q *queue) gone() error {
	err := q.holder.wait()
	for _, w := range q.waiting {
		err = errors.Join(err, w.wait())
	}
	return err
}

// finish lets all have the lock.
func (q *queue) finish() error {
	_, err := q.drain()
	return err
}

// A load is what those that wait do to the machine.
type load struct {
	switches float64 // a second
	cpu      float64 // in ms a second
}

// loads watches queues for a while.
func loads(ctx context.Context, watch time.Duration, queues ...*queue) ([]load, error) {
	before, err := tallies(queues)
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, watch); err != nil {
		return nil, err
	}
	after, err := tallies(queues)
	if err != nil {
		return nil, err
	}
	all := make([]load, len(queues))
	for i := range queues {
		switches, cpu := after[i].since(before[i])
		all[i] = load{float64(switches) / watch.Seconds(), cpu.Seconds() * 1000 / watch.Seconds()}
	}
	return all, nil
}

func tallies(queues []*queue) ([]tally, error) {
	var all []tally
	for _, q := range queues {
		sum, err := q.tally()
		if err != nil {
			return nil, err
		}
		all = append(all, sum)
	}
	return all, nil
}

// tally is of all waiting processes so far.
func (q *queue) tally() (tally, error) {
	sum := tally{}
	for _, w := range q.waiting {
		if err := sum.count(w.pid()); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

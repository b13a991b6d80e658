package main

import (
	"context"
	"time"
)

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

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// waiters is how many processes wait for one lock.
const waiters = 20

// idle measures how often the kernel switches to processes that wait for a lock
// and should sleep. The lease is long enough for its holder to live through
// the measurement, and so short that heartbeats fall into it.
func (b *bench) idle(ctx context.Context, t *table) error {
	ctx, cancel := context.WithTimeout(ctx, b.settle+b.watch+limit)
	defer cancel()
	ours, flock := b.locksmithRival(), b.flockRival()
	holders := map[string][]string{
		ours.name:  {b.locksmith, "hold", "--lease", "60", "local:" + b.path("idle-"+ours.name)},
		flock.name: {b.flock, b.path("idle-" + flock.name), "sh", "-c", "echo OK; exec cat"},
	}
	var queues []*queue
	defer func() {
		cancel()
		for _, q := range queues {
			q.drop()
		}
	}()
	for _, r := range present([]rival{ours, flock}) {
		q, err := b.enqueue(ctx, r, holders[r.name])
		queues = append(queues, q)
		if err != nil {
			return err
		}
	}
	if err := b.watchQueues(ctx, queues); err != nil {
		return err
	}
	rates := samples{}
	for _, q := range queues {
		if err := q.finish(); err != nil {
			return err
		}
		rates.add(q.rival, float64(q.switches)/b.watch.Seconds())
	}
	f := figure{name: fmt.Sprintf("context switches a second, %d waiters", waiters), format: "%.1f", ours: rates.median(ours.name)}
	t.add(f, opponent{rival: flock, theirs: rates.median(flock.name), goal: absolutely(0)})
	return b.noneLeft("idle-" + ours.name)
}

// watchQueues counts the switches of all queues over the same time.
func (b *bench) watchQueues(ctx context.Context, queues []*queue) error {
	if err := sleep(ctx, b.settle); err != nil {
		return err
	}
	before := make([]tally, len(queues))
	for i, q := range queues {
		var err error
		if before[i], err = q.tally(); err != nil {
			return err
		}
	}
	if err := sleep(ctx, b.watch); err != nil {
		return err
	}
	for i, q := range queues {
		after, err := q.tally()
		if err != nil {
			return err
		}
		q.switches = after.since(before[i])
	}
	return nil
}

// A queue is one holder and the processes that wait for its lock.
type queue struct {
	rival    rival
	holder   *holder // nil: none, or released
	waiting  []*exec.Cmd
	ended    chan error // of waiting, in any order
	left     int        // how many have yet to be read from ended
	switches uint64
}

// enqueue returns what there is of the queue with an error, too.
func (b *bench) enqueue(ctx context.Context, r rival, holder []string) (q *queue, err error) {
	q = &queue{rival: r, ended: make(chan error, waiters)}
	if q.holder, err = b.hold(ctx, holder); err != nil {
		return q, err
	}
	argv := r.argv(b.path("idle-"+r.name), "true")
	for range waiters {
		cmd := b.command(ctx, argv)
		if err := cmd.Start(); err != nil {
			return q, err
		}
		q.waiting = append(q.waiting, cmd)
		q.left++
		go func() { q.ended <- explain(ctx, argv, cmd.Wait()) }()
	}
	return q, nil
}

// tally counts the switches of all waiting processes so far.
func (q *queue) tally() (tally, error) {
	sum := tally{}
	for _, cmd := range q.waiting {
		if err := sum.count(cmd.Process.Pid); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// finish makes sure that all have waited, and lets all of them have the lock.
func (q *queue) finish() error {
	if n := len(q.ended); n > 0 {
		return fmt.Errorf("%d processes did not wait for %s", n, q.rival.name)
	}
	err := q.holder.release()
	q.holder = nil
	for ; q.left > 0; q.left-- {
		err = errors.Join(err, <-q.ended)
	}
	return err
}

// drop waits for what is left of the queue after its context has ended.
func (q *queue) drop() {
	if q.holder != nil {
		_ = q.holder.release()
	}
	for ; q.left > 0; q.left-- {
		<-q.ended
	}
}

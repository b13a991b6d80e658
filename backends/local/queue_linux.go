package local

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"locksmith/backends/lockfile"
)

// A queue is a lock's one place in the kernel's queues: a thread that sleeps until it has the
// kernel lock of a file. Nothing can wake it before, so that it outlasts an attempt that is
// given up, and serves the next one. What it is given when nobody waits goes back at once.
type queue struct {
	mu     sync.Mutex
	sleeps bool
	turn   chan<- *lockfile.File // of the attempt that waits for it; nil: none does
}

// enter takes the place in the queue for a file, or keeps the one that there is. A turn is one
// file, locked, in the channel, which has room for it. The file is the queue's.
func (q *queue) enter(f *lockfile.File, turn chan<- *lockfile.File) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn == nil {
		q.turn = turn
	}
	if q.sleeps {
		_ = f.Close()
		return
	}
	q.sleeps = true
	go func() { q.give(f, f.Lock()) }()
}

func (q *queue) give(f *lockfile.File, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sleeps = false
	if err == nil && q.turn != nil {
		q.turn <- f
		q.turn = nil
	} else {
		_ = f.Close()
	}
}

// leave gives up waiting for a turn. One that has come by now is in the channel.
func (q *queue) leave(turn chan<- *lockfile.File) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn == turn {
		q.turn = nil
	}
}

// sleepInQueue sleeps until the kernel lock of the file is ours, at most for timeout. It ends
// now and then by itself, for nothing else does if whoever is before us in the queue got the
// kernel lock and was stopped; and seldom for one that has waited for long already.
func (a *attempt) sleepInQueue(outer context.Context, f *lockfile.File, timeout time.Duration) error {
	if !a.isStill(f) {
		return f.Close()
	}
	a.lock.queue.enter(f, a.turn)
	a.nap = min(max(2*a.nap, slowLook), rareLook)
	ctx, cancel := a.withTimeout(outer, min(timeout, a.pauses.NextOr(a.nap+rand.N(a.nap))))
	defer cancel()
	select {
	case f := <-a.turn:
		a.given = f
		return nil
	case <-ctx.Done():
		return waited(ctx, outer, ctx.Err())
	}
}

package local

import (
	"context"
	"sync"
	"time"
)

// A queue is a lock's one place in the kernel's queues: a thread that sleeps until it has the
// kernel lock of a file. Nothing can wake it before, so that it outlasts an attempt that is
// given up, and serves the next one.
type queue struct {
	mu    sync.Mutex
	place place
	file  File          // whose kernel lock the thread sleeps for, or was given
	bell  chan struct{} // of the attempt that waits for its turn; nil: none does
}

// A place is what there is in the kernel's queues. A waiter is at one of three: it watches the
// lock (wait_linux.go), or it waits for what its place brings, or it looks (Try); and it has
// the batons that its turns were.
//
//	empty   enter: a thread begins to sleep for the kernel lock of a file  -> asleep
//	asleep  the kernel gives it, and an attempt waits for that             -> given
//	        the kernel gives it, and none waits any more, or the call
//	          fails: it goes back at once                                  -> empty
//	        enter: the thread sleeps on, for whoever waits now
//	        leave: the thread sleeps on, for nobody
//	given   take, leave: the turn is the attempt's                         -> empty
//	        enter: the bell rings again, so that the attempt takes its turn first
type place int

const (
	empty place = iota
	asleep
	given
)

// enter takes the place in the queue for a file, or keeps the one that there is. The bell, which
// has room for one ring, rings when there is a turn. The file is the queue's.
func (q *queue) enter(s System, f File, bell chan struct{}) {
	if !q.begin(f, bell) {
		_ = f.Close()
		return
	}
	s.Queue(f, q.give)
}

// begin reports whether there was no place.
func (q *queue) begin(f File, bell chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bell == nil {
		q.bell = bell
	}
	switch q.place {
	case asleep:
		return false
	case given:
		q.ring()
		return false
	}
	q.place, q.file = asleep, f
	return true
}

// give is called when the kernel lock of the file is ours, or will never be.
func (q *queue) give(err error) {
	if f := q.arrive(err); f != nil {
		_ = f.Close()
	}
}

// arrive returns the file if it is for nobody.
func (q *queue) arrive(err error) File {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil || q.bell == nil {
		return q.vacate()
	}
	q.place = given
	q.ring()
	return nil
}

// take returns the file of a turn, whose kernel lock is ours, or nil.
func (q *queue) take(bell chan struct{}) File {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.turn(bell)
}

func (q *queue) turn(bell chan struct{}) File {
	if q.place != given || q.bell != bell {
		return nil
	}
	q.bell = nil
	return q.vacate()
}

// leave is take, and gives up waiting for a turn.
func (q *queue) leave(bell chan struct{}) File {
	q.mu.Lock()
	defer q.mu.Unlock()
	f := q.turn(bell)
	if q.bell == bell {
		q.bell = nil
	}
	return f
}

func (q *queue) ring() {
	select {
	case q.bell <- struct{}{}:
	default: // it has rung, and nobody has heard it yet
	}
}

func (q *queue) vacate() File {
	f := q.file
	q.place, q.file = empty, nil
	return f
}

// sleepInQueue sleeps until the kernel lock of the file is ours, at most for timeout. It ends
// now and then by itself, for nothing else does if whoever is before us in the queue got the
// kernel lock and was stopped; and seldom for one that has waited for long already.
func (a *attempt) sleepInQueue(ctx context.Context, f File, timeout time.Duration) error {
	if !a.isStill(f) {
		return f.Close()
	}
	a.lock.queue.enter(a.system, f, a.bell)
	a.nap = min(max(2*a.nap, slowLook), rareLook)
	return a.system.Rest(ctx, a.bell, min(timeout, a.pauses.NextOr(a.nap+a.system.Random(a.nap))))
}

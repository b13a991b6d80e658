package local

import (
	"context"
	"sync"
	"time"

	"locksmith/backends/lockfile"
)

// A queue lets one thread of a Lock sleep in the kernel's queue for a file, until the thread has
// the file's kernel lock. Nothing can wake the thread earlier. So when the attempt that waits for
// it ends, the thread sleeps on, for the same file, and serves the next attempt.
type queue struct {
	mu    sync.Mutex
	place place
	file  File          // the file whose kernel lock the thread sleeps for, or has got
	bell  chan struct{} // rings for the attempt that waits for its turn; nil: none waits
}

// A place is the state of a queue. When the kernel has given the thread a file's kernel lock, the
// attempt that waits has its turn, and takes the file over. If the file has been removed by then,
// it is a baton: the attempt keeps its kernel lock, so that the others in the kernel's queue for it
// sleep on (baton.go). One attempt of a Lock at a time waits for a turn. Its other attempts watch the
// lock (wait_linux.go), or wake by themselves and look at it (Try).
//
//	empty   enter: a thread begins to sleep for the kernel lock of a file      -> asleep
//	asleep  the kernel gives the lock, and an attempt waits: its bell rings    -> given
//	        the kernel gives the lock, and no attempt waits any more: the
//	          file is closed at once                                           -> empty
//	        the call fails: the file is closed at once; no bell rings, and an
//	          attempt that waits wakes by itself                               -> empty
//	        enter: the thread sleeps on, for this attempt if no other waits
//	        leave: the thread sleeps on, for nobody
//	given   take, leave: the attempt gets the file of its turn                 -> empty
//	        enter, by any attempt: the bell of the attempt whose turn it is rings
//	          again; a thread can sleep for another file only after the turn is taken
type place int

const (
	empty place = iota
	asleep
	given
)

// enter begins to wait for a turn. From now on f belongs to the queue. If the queue is empty, a
// thread sleeps for f's kernel lock; else f is closed. If no other attempt waits already, the bell
// rings when there is a turn. The caller makes the bell with room for one ring.
func (q *queue) enter(s System, f File, bell chan struct{}) {
	if !q.begin(f, bell) {
		_ = f.Close()
		return
	}
	s.Queue(f, q.give)
}

// begin reports whether the place was empty. If so, it is asleep now.
func (q *queue) begin(f File, bell chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bell == nil {
		q.bell = bell
	}
	switch q.place {
	//rule:asleep
	case asleep:
		return false
	//rule:given
	case given:
		q.ring()
		//rule:turn
		return false
	}
	q.place, q.file = asleep, f
	return true
}

// give is called when the kernel lock of the file is ours, or when the call for it has failed.
func (q *queue) give(err error) {
	//rule:nobody
	if f := q.arrive(err); f != nil {
		_ = f.Close()
	}
}

// arrive notes the turn and rings. If nobody waits for the turn, or the call has failed, arrive
// returns the file, to be closed.
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

// take ends the turn of the attempt with this bell, and returns the file, whose kernel lock is
// ours. nil: no turn came for that attempt. An attempt that has found a lock file calls take
// (openLock).
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

// leave is take for an attempt that waits no more. If it has the lock, it keeps the file as a baton.
// If it is withdrawn, it closes the file.
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
	default: // it has rung already, and the attempt has not heard it yet
	}
}

func (q *queue) vacate() File {
	f := q.file
	q.place, q.file = empty, nil
	return f
}

// sleepInQueue sleeps until our turn, at most for timeout. If f is not the lock any more, or not as
// the last look saw it, sleepInQueue closes f and returns at once. It also wakes by itself, after
// twice as long each time: the waiter before us may have got f's kernel lock and been stopped. Then
// nothing else wakes us, even if f has been removed and the lock is free.
func (a *attempt) sleepInQueue(ctx context.Context, f File, timeout time.Duration) error {
	if !a.isUnchanged(f) {
		return f.Close()
	}
	a.lock.queue.enter(a.system, f, a.bell)
	a.nap = min(max(2*a.nap, slowLook), rareLook)
	//rule:nap
	return a.system.Rest(ctx, a.bell, min(timeout, a.pauses.NextOr(a.nap+a.system.Random(a.nap))))
}

// Queue implements System.
func (m *machine) Queue(f File, given func(error)) {
	go func() { given(f.(*lockfile.File).Lock()) }()
}

// Seat implements System.
func (m *machine) Seat(f File, seats int64) (bool, error) { return f.(*lockfile.File).Seat(seats) }

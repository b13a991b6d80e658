package bench

import (
	"math"
	"slices"
	"strings"
	"time"

	"locksmith/test/lab"
)

// A queue is a process that holds a lock, and the processes that wait for it.
type queue struct {
	*bench
	rival
	lock    string
	holder  *lab.Process
	waiting []*lab.Process
	moved   []float64 // after drain: how many places each came to the lock before or after its turn
}

// enqueue has n processes wait for a lock.
func (b *bench) enqueue(r rival, n int) *queue {
	q := &queue{bench: b, rival: r, lock: b.lock()}
	argv := b.fill(r.hold, q.lock)
	q.holder = b.start(argv)
	q.holder.Expect("OK")
	for range n {
		q.waiting = append(q.waiting, b.start(argv))
	}
	return q
}

// asleep has n processes wait for a lock of each rival, until they sleep.
func (b *bench) asleep(of []rival, n int) (queues []*queue) {
	for _, r := range of {
		queues = append(queues, b.enqueue(r, n))
	}
	for _, q := range queues {
		q.fallAsleep()
	}
	return queues
}

// fallAsleep waits until nearly all sleep, in three looks one after the other: then they wait for
// the lock, and not for a processor to start on. Waiters that ask all the time may never seem to
// sleep, so it does not wait for long.
func (q *queue) fallAsleep() {
	if q.forks {
		time.Sleep(q.nap + time.Duration(len(q.waiting))*15*time.Millisecond)
		return
	}
	end := time.Now().Add(lab.Patience / 4)
	for looks := 0; looks < 3 && time.Now().Before(end); looks++ {
		time.Sleep(q.nap / 3)
		awake := 0
		for _, w := range q.waiting {
			if isAwake(w.PID()) {
				awake++
			}
		}
		if awake*20 > len(q.waiting) {
			looks = -1
		}
	}
}

// drain lets one waiter after the other have the lock. It returns the milliseconds from hand to
// hand, and how much processor time the waiters needed for that. Then all are gone.
func (q *queue) drain() (latencies []float64, cpu float64) {
	type turn struct {
		*lab.Process
		lab.Line
		err error
	}
	before := q.tally()
	turns, last := make(chan turn, len(q.waiting)), q.holder
	for _, w := range q.waiting {
		go func() {
			line, err := w.Next()
			turns <- turn{w, line, err}
		}()
	}
	for range q.waiting {
		if len(turns) > 0 {
			q.Fatalf("somebody did not wait for %s", q.name)
		}
		released := time.Now()
		last.LetGo()
		next := <-turns
		if !strings.HasPrefix(next.Text, "OK") {
			q.Fatalf("%q: says %q instead of OK (%v)\n%s", next.Cmd.Args, next.Text, next.err, next.Stderr())
		}
		q.moved = append(q.moved, math.Abs(float64(slices.Index(q.waiting, next.Process)-len(latencies))))
		last, latencies = next.Process, append(latencies, ms(next.At.Sub(released)))
	}
	last.LetGo()
	q.holder.Exits(0)
	for _, w := range q.waiting {
		w.Exits(0)
		cpu += ms(w.Cmd.ProcessState.UserTime() + w.Cmd.ProcessState.SystemTime())
	}
	q.mustBeReleased(q.rival, q.lock)
	return latencies, cpu - ms(before.since(nil).ran)
}

// tally is the tally of all waiting processes so far.
func (q *queue) tally() tally {
	sum := tally{}
	for _, w := range q.waiting {
		if err := sum.count(w.PID()); err != nil {
			q.Fatal(err)
		}
	}
	return sum
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

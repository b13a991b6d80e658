package backoff

import "time"

// Fairness remembers until when a waiter leaves a lock to those who came before it. The zero
// value has left nothing to anybody yet.
type Fairness struct {
	on         bool
	generation uint64
	since      time.Duration
}

// Until returns when a waiter that does so at a time has left generation t of a lock to others
// for as long as d, counted from the first call for that generation. Times are those of one
// clock.
func (f *Fairness) Until(now time.Duration, t uint64, d time.Duration) time.Duration {
	if !f.on || f.generation != t {
		*f = Fairness{on: true, generation: t, since: now}
	}
	return f.since + d
}

package backoff

import "time"

// Fairness remembers since when a waiter has left a lock to those who came before it. The zero
// value has left nothing to anybody yet.
type Fairness struct {
	on         bool
	generation uint64
	since      time.Duration
}

// Until is called at the time now by a waiter that leaves generation t of a lock to others, for
// as long as d. It returns when that ends, counted from its first call for that generation. All
// times are of one clock.
func (f *Fairness) Until(now time.Duration, t uint64, d time.Duration) time.Duration {
	if !f.on || f.generation != t {
		*f = Fairness{on: true, generation: t, since: now}
	}
	return f.since + d
}

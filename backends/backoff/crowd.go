package backoff

import (
	"math/rand/v2"
	"time"
)

// Few is how many waiters may each ask as often as a lone one, and be woken by whatever happens
// to the lock.
const Few = 16

// A Crowd is all who wait for one lock that has no queue, as counted by one of them. The more
// there are, the more seldom each asks, at its own random time. So the load that they put on a
// server, or on each other, does not grow with their number: all of them together ask as often as
// a few. The lock goes to whoever asks next. A Crowd is for one goroutine at a time.
type Crowd struct {
	// Each is how long a waiter pauses for each member of the crowd, itself included. So all
	// together ask at most once in that time. 0: the waiters are not counted, and each asks as if
	// it were alone.
	Each time.Duration

	n       int
	early   bool          // there were only a few when this waiter came
	changed time.Duration // when the lock was last seen to change hands
	counted time.Duration // changed at the time of the last count
	soonest time.Duration // when to count again if the lock has changed hands since,
	latest  time.Duration // and when to count again otherwise
}

const (
	// countNames: a listing of up to so many names allows a count as often as a listing of one.
	countNames = 100
	// countEvery is the time after which to count again even if nothing has happened. At random
	// it is up to twice as long, so that waiters who came together do not stay together.
	countEvery = time.Minute
)

// Changed notes that the lock has a new holder. All times here are of one clock, the caller's.
func (c *Crowd) Changed(now time.Duration) { c.changed = now }

// Due reports whether it is time to count.
func (c *Crowd) Due(now time.Duration) bool {
	return c.Each > 0 && now >= c.soonest && (now >= c.latest || c.changed != c.counted)
}

// Count notes how many wait, the caller included. names is how many names the caller listed to
// find out.
func (c *Crowd) Count(waiting, names int, now time.Duration) {
	c.early = c.early || c.n == 0 && waiting <= Few
	c.n, c.counted = waiting, c.changed
	c.soonest = now + c.Each*time.Duration(max(names, countNames))
	c.latest = now + countEvery + rand.N(countEvery)
}

// Large reports whether there are more than a few.
func (c *Crowd) Large() bool { return c.n > Few }

// Sleeps reports whether only time is to wake this waiter. An event that woke all of a large
// crowd would set all of them upon a lock that only one can have. So events wake only the waiters
// that were there first.
func (c *Crowd) Sleeps() bool { return c.Large() && !c.early }

// Growing returns a pause that grows with the time since the lock last changed hands.
func (c *Crowd) Growing(now, least, most time.Duration) time.Duration {
	return min(max((now-c.changed)/8, least), most)
}

// Spread returns the pause of one waiter of the crowd. d is what it would be if there were only a
// few.
func (c *Crowd) Spread(d time.Duration) time.Duration {
	n := time.Duration(c.n)
	switch {
	case n < 2:
		return d
	case n <= Few:
		return max(d, c.Each*n)
	}
	d = max(d/Few*n, c.Each*n)
	return d/2 + rand.N(d+1)
}

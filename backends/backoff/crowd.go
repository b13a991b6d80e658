package backoff

import (
	"math/rand/v2"
	"time"
)

// Few is how many waiters may each ask as often as one that is alone, and be woken by
// whatever happens to the lock.
const Few = 16

// A Crowd is those who wait for one lock that has no queue, as one of them has counted them.
// Each then asks the more seldom the more there are, at its own random time, so that what
// they do to a server, or to each other, does not grow with their number: the lock goes to
// whoever asks next, and all of them together ask as often as a few. It is for one
// goroutine at a time.
type Crowd struct {
	// Each is how much of its pause a waiter owes to each of the crowd, itself included:
	// all together ask once in that time at most. 0: they are not counted, and each asks
	// as if it were alone.
	Each time.Duration

	n       int
	early   bool          // they were a few when this one came
	changed time.Duration // when the lock was last seen to change hands
	counted time.Duration // what changed was then
	soonest time.Duration // when to count them again if it has changed since,
	latest  time.Duration // and if not
}

const (
	// countNames is for how many names in a directory to count as seldom as for one.
	countNames = 100
	// countEvery is after how long to count again, though nothing has happened; or after
	// twice as long, so that those who came together do not stay together.
	countEvery = time.Minute
)

// Changed notes that the lock has another holder than before. All times are of one clock, the
// caller's.
func (c *Crowd) Changed(now time.Duration) { c.changed = now }

// Due reports whether it is time to count.
func (c *Crowd) Due(now time.Duration) bool {
	return c.Each > 0 && now >= c.soonest && (now >= c.latest || c.changed != c.counted)
}

// Count notes how many wait, the one who counts included. To find out took as long as to
// list so many names.
func (c *Crowd) Count(waiting, names int, now time.Duration) {
	c.early = c.early || c.n == 0 && waiting <= Few
	c.n, c.counted = waiting, c.changed
	c.soonest = now + c.Each*time.Duration(max(names, countNames))
	c.latest = now + countEvery + rand.N(countEvery)
}

// Large reports that there are more than a few.
func (c *Crowd) Large() bool { return c.n > Few }

// Sleeps reports that nothing but time is to wake this one. What woke a large crowd would set
// all of them upon a lock that only one can have; so it is those who were there first.
func (c *Crowd) Sleeps() bool { return c.Large() && !c.early }

// Growing returns a pause that grows with the time that nothing has happened.
func (c *Crowd) Growing(now, least, most time.Duration) time.Duration {
	return min(max((now-c.changed)/8, least), most)
}

// Spread returns the pause of one of the crowd who would pause for d if there were a few.
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

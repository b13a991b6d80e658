package backend

import "time"

// Parallel is how many of several locks are asked at the same time, at most. Each call may hang in a
// thread of its own, and a helper makes these threads before it takes a lock.
const Parallel = 16

// A MultiHold is the Hold of a set of locks.
type MultiHold interface {
	Hold
	// Tokens returns their fencing tokens, in the order in which the locks were given.
	Tokens() []uint64
	// Confirmed returns a time, by the helper's clock, at which all the locks were proven ours. The
	// lease counts from then: some of the locks may have been taken long before others.
	Confirmed() time.Duration
}

// A ChosenHold is the Hold of one lock out of several of which any would do.
type ChosenHold interface {
	Hold
	// Chosen returns which lock it is, counted from 0 in the order in which the locks were given.
	Chosen() int
	// Confirmed returns a time, by the helper's clock, at which the lock was proven ours.
	Confirmed() time.Duration
}

package backend

import (
	"context"
	"time"

	"locksmith/backends/owner"
)

// Parallel is how many of several locks are asked at the same time, at most. Each call may hang in a
// thread of its own, and a helper makes these threads before it takes a lock.
const Parallel = 16

// A SeveralHold is the Hold of a set of locks, or of one lock out of several of which any would do.
type SeveralHold interface {
	Hold
	// Tokens returns the fencing tokens of a set, in the order in which the locks were given; nil: this
	// is the hold of one lock.
	Tokens() []uint64
	// Chosen returns which lock that is, counted from 0 in the order in which the locks were given.
	Chosen() int
	// Confirmed returns a time, by the helper's clock, at which the lock was proven ours, or all of
	// the set. The lease counts from then: some of the locks may have been taken long before others.
	Confirmed() time.Duration
	// Note returns who broke the lock by hand, or one of the set; nil: there is no note of that. It is
	// called after a call that said ErrGone. While it hangs no other call is made.
	Note(ctx context.Context) (*owner.Note, error)
}

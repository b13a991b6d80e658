package backend

import (
	"context"
	"slices"
	"time"

	"locksmith/backends/owner"
)

// Parallel is how many of several locks are asked at the same time, at most. Each call may hang in a
// thread of its own, and a helper makes these threads before it takes a lock.
const Parallel = 16

// A SeveralHold is the Hold of a set of locks, or of one lock out of several of which any would do.
type SeveralHold interface {
	Hold
	// Holds returns those of its locks.
	Holds() []Hold
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

// Kept reports whether the system keeps a hold for its process (KeptHold), and of several all.
func Kept(h Hold) bool {
	if several, ok := h.(SeveralHold); ok {
		return !slices.ContainsFunc(several.Holds(), func(one Hold) bool { return !Kept(one) })
	}
	k, ok := h.(KeptHold)
	return ok && k.Kept()
}

// Lend returns what a command inherits of a hold (KeptHold), and of several what it inherits of each.
func Lend(h Hold) (all []int, err error) {
	switch h := h.(type) {
	case SeveralHold:
		for _, one := range h.Holds() {
			some, err := Lend(one)
			if all = append(all, some...); err != nil {
				return all, err
			}
		}
	case KeptHold:
		return h.Lend()
	}
	return all, nil
}

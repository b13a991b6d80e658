package set

import (
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Max is how many locks a set may have.
const Max = 1024

// A Lock is one lock of a set.
type Lock struct {
	Address string // canonical
	Locker  backend.Locker
	// Key returns what is the same for all spellings of the address. It may look at
	// the lock's place, and so take long.
	Key func() string
	// Ask turns the set's request into the one for this lock.
	Ask func(backend.Request) backend.Request
}

// Policy is how a set waits.
type Policy struct {
	Refusals int           // so often it backs off before it holds on
	Hold     time.Duration // for so long at most it waits with locks held
}

// usual is the Policy of a set that nobody gave another.
var usual = Policy{Refusals: 8, Hold: 2 * time.Second}

// A Set is a backend.Locker for all its locks together.
type Set struct {
	locks  []Lock
	policy Policy
}

// New returns the set of these locks. Its error is a *backend.Error.
func New(locks []Lock) (*Set, error) {
	if len(locks) > Max {
		return nil, &backend.Error{Code: protocol.Usage, Lock: locks[0].Address, Op: "make a set",
			Err:  fmt.Errorf("%d locks are more than the %d a set may have", len(locks), Max),
			Hint: "let one lock stand for several"}
	}
	return &Set{locks: locks, policy: usual}, nil
}

// Attempt implements backend.Locker.
func (s *Set) Attempt(r backend.Request) (backend.Attempt, error) {
	return &attempt{set: s, request: r, clock: r.Clock, holdsOn: s.policy.Refusals <= 0}, nil
}

package set

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	// Key returns a text that is the same for all spellings of the address. It may look at the
	// lock's place, and so take long.
	Key func() string
	// OneName says that the lock is of a descriptor, so that a set may have no other name of it.
	OneName bool
	// Ask turns the set's request into the one for this lock.
	Ask func(backend.Request) backend.Request
}

// Policy is how a set waits.
type Policy struct {
	Refusals int           // after how many refusals it holds on
	Hold     time.Duration // how long at most it waits with locks held
}

// usual is the Policy of all sets but those of tests.
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
	r.Several = true
	return &attempt{set: s, request: r, clock: r.Clock, holdsOn: s.policy.Refusals <= 0}, nil
}

// arrange finds out, once, which names are the same lock, and puts the locks in order.
func (a *attempt) arrange() error {
	if a.members != nil {
		return nil
	}
	known := map[string]*member{}
	for _, l := range a.set.locks {
		key := l.Key()
		m := known[key]
		switch {
		case m == nil:
			m = &member{Lock: l, clock: a.clock, key: key}
			known[key] = m
			a.members = append(a.members, m)
		case l.OneName && m.Address != l.Address:
			a.members, a.given = nil, nil
			return sameLock(l.Address, "it names the same file as "+m.Address)
		case options(m.Address) != options(l.Address):
			a.members, a.given = nil, nil
			return &backend.Error{Code: protocol.Usage, Lock: l.Address, Op: "make a set",
				Err: fmt.Errorf("it names the same lock as %s with other options", m.Address), Hint: "use one address for it"}
		case m.shares(a.request) && !l.shares(a.request):
			m.Lock = l // an exclusive hold serves both
		}
		a.given = append(a.given, m)
	}
	slices.SortFunc(a.members, func(x, y *member) int { return strings.Compare(x.key, y.key) })
	return nil
}

// sameLock refuses another name of a lock.
func sameLock(address, why string) error {
	return &backend.Error{Code: protocol.Usage, Lock: address, Op: "make a set", Err: errors.New(why), Hint: "name it once"}
}

// shares reports whether the lock is wanted in shared mode.
func (l Lock) shares(r backend.Request) bool { return l.Ask(r).Owner.Mode == "shared" }

// options is what an address says about its lock, apart from the path.
func options(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	_, query, _ := strings.Cut(rest, "?")
	return scheme + "?" + query
}

package set

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/member"
	"locksmith/protocol"
)

// Policy is how a set waits.
type Policy struct {
	Refusals int           // after how many refusals it holds on
	Hold     time.Duration // how long at most it waits with locks held
}

// usual is the Policy of all sets but those of tests.
var usual = Policy{Refusals: 8, Hold: 2 * time.Second}

// A Set is a backend.Locker for all its locks together.
type Set struct {
	locks  []member.Lock
	policy Policy
}

// New returns the set of these locks. Its error is a *backend.Error.
func New(locks []member.Lock) (*Set, error) {
	if err := member.Check(locks); err != nil {
		return nil, err
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
	known := map[string]*member.Member{}
	for _, l := range a.set.locks {
		key := l.Key()
		m := known[key]
		switch {
		case m == nil:
			m = member.New(l, a.clock)
			known[key] = m
		case l.OneName && m.Address != l.Address:
			a.given = nil
			return sameLock(l.Address, "it names the same file as "+m.Address)
		case options(m.Address) != options(l.Address):
			a.given = nil
			return &backend.Error{Code: protocol.Usage, Lock: l.Address, Op: "make a set",
				Err: fmt.Errorf("it names the same lock as %s with other options", m.Address), Hint: "use one address for it"}
		case shares(m.Lock, a.request) && !shares(l, a.request):
			m.Lock = l // an exclusive hold serves both
		}
		a.given = append(a.given, m)
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		a.members = append(a.members, known[key])
	}
	return nil
}

// sameLock refuses another name of a lock.
func sameLock(address, why string) error {
	return &backend.Error{Code: protocol.Usage, Lock: address, Op: "make a set", Err: errors.New(why), Hint: "name it once"}
}

// shares reports whether the lock is wanted in shared mode.
func shares(l member.Lock, r backend.Request) bool { return l.Ask(r).Owner.Mode == "shared" }

// options is what an address says about its lock, apart from the path.
func options(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	_, query, _ := strings.Cut(rest, "?")
	return scheme + "?" + query
}

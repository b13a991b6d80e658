package set

import (
	"fmt"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// arrange finds out, once, which names are the same lock, and the order of the locks.
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
		case options(m.Address) != options(l.Address):
			a.members, a.given = nil, nil
			return &backend.Error{Code: protocol.Usage, Lock: l.Address, Op: "make a set",
				Err: fmt.Errorf("it names the same lock as %s with other options", m.Address), Hint: "use one address for it"}
		case m.shares(a.request) && !l.shares(a.request):
			m.Lock = l // exclusive serves both
		}
		a.given = append(a.given, m)
	}
	slices.SortFunc(a.members, func(x, y *member) int { return strings.Compare(x.key, y.key) })
	return nil
}

// shares reports whether the lock is wanted in shared mode.
func (l Lock) shares(r backend.Request) bool { return l.Ask(r).Owner.Mode == "shared" }

// options is what an address says about its lock beside the path.
func options(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	_, query, _ := strings.Cut(rest, "?")
	return scheme + "?" + query
}

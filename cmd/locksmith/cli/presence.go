package cli

import (
	"slices"

	"locksmith/backends/backend"
)

// A presence is somebody who holds a lock or waits for it.
type presence struct {
	backend.Holder
	waits bool
}

func (p presence) role() string {
	if p.waits {
		return "waiter"
	}
	return "holder"
}

func (p presence) String() string {
	if p.waits {
		return "waiting: " + p.Holder.String()
	}
	return "held by " + p.Holder.String()
}

// all are the holders, and then the waiters.
func (s lockStatus) all() []presence {
	var all []presence
	for _, h := range s.seen.Holders {
		all = append(all, presence{h, false})
	}
	for _, h := range s.seen.Waiters {
		all = append(all, presence{h, true})
	}
	return all
}

func (s lockStatus) present(id string) (presence, bool) {
	all := s.all()
	i := slices.IndexFunc(all, func(p presence) bool { return p.ID == id })
	if i < 0 {
		return presence{}, false
	}
	return all[i], true
}

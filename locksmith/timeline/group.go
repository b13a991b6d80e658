package timeline

import (
	"cmp"
	"slices"
)

// A group is the processes of one lock, in the order of their rows.
type group struct {
	lock      string
	processes []*process
}

// groups are in the order of the locks' addresses.
func groups(all []*process) []group {
	byLock := map[string][]*process{}
	for _, p := range all {
		for _, lock := range p.first().Locks {
			byLock[lock] = append(byLock[lock], p)
		}
	}
	var found []group
	for lock, ps := range byLock {
		slices.SortStableFunc(ps, func(a, b *process) int { return a.turn().Compare(b.turn()) })
		found = append(found, group{lock, ps})
	}
	slices.SortFunc(found, func(a, b group) int { return cmp.Compare(a.lock, b.lock) })
	return found
}

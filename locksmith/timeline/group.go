package timeline

import (
	"cmp"
	"slices"
)

// A group is the rows of one lock, in their order.
type group struct {
	lock string
	rows []part
}

// groups are in the order of the locks' addresses.
func groups(all []*process) []group {
	byLock := map[string][]part{}
	for _, p := range all {
		for _, f := range p.parts {
			byLock[f.lock()] = append(byLock[f.lock()], f)
		}
	}
	var found []group
	for lock, rows := range byLock {
		slices.SortStableFunc(rows, func(a, b part) int { return a.turn().Compare(b.turn()) })
		found = append(found, group{lock, rows})
	}
	slices.SortFunc(found, func(a, b group) int { return cmp.Compare(a.lock, b.lock) })
	return found
}

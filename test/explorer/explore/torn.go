//go:build unix

package explore

import (
	"slices"

	"locksmith/test/explorer/steps"
)

// compare returns what is in both sorted lists, and what is in only one of them.
func compare(a, b []steps.Text) (both, either []steps.Text) {
	for _, t := range a {
		if slices.Contains(b, t) {
			both = append(both, t)
		} else {
			either = append(either, t)
		}
	}
	for _, t := range b {
		if !slices.Contains(a, t) {
			either = append(either, t)
		}
	}
	return both, either
}

func merge(a, b []steps.Text) []steps.Text {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return all
}

// subsets returns all subsets of a few names, and some subsets of many.
func subsets(all []steps.Text) [][]steps.Text {
	const few = 4
	if len(all) > few {
		half := len(all) / 2
		return [][]steps.Text{nil, all, all[:half], all[half:]}
	}
	var some [][]steps.Text
	for mask := range 1 << len(all) {
		var one []steps.Text
		for i, t := range all {
			if mask>>i&1 != 0 {
				one = append(one, t)
			}
		}
		some = append(some, one)
	}
	return some
}

package explore

import "slices"

// compare returns what is in both sorted lists, and what is in only one.
func compare(a, b []text) (both, either []text) {
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

func merge(a, b []text) []text {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return all
}

// subsets returns all subsets of a few names, and some of many.
func subsets(all []text) [][]text {
	const few = 4
	if len(all) > few {
		half := len(all) / 2
		return [][]text{nil, all, all[:half], all[half:]}
	}
	var some [][]text
	for mask := range 1 << len(all) {
		var one []text
		for i, t := range all {
			if mask>>i&1 != 0 {
				one = append(one, t)
			}
		}
		some = append(some, one)
	}
	return some
}

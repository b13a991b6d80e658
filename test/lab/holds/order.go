package holds

import "fmt"

// byOrder goes through holds in the order of their beginnings.
func byOrder(all []Hold, tokens bool) (found []string) {
	var longest, highest [2]*Hold // of exclusive holds, and of shared ones
	for n := range all {
		b := &all[n]
		i := 0
		if b.Shared {
			i = 1
		}
		if (b.Token != 0) != tokens {
			found = append(found, fmt.Sprintf("token %d, but tokens: %v: %v", b.Token, tokens, b))
		}
		for j, a := range longest {
			if a != nil && a.End > b.Start && i*j == 0 {
				found = append(found, fmt.Sprintf("two holders: %v; and %v", a, b))
			}
		}
		for j, a := range highest {
			if a != nil && b.Token != 0 && (a.Token > b.Token || a.Token == b.Token && i*j == 0) {
				found = append(found, fmt.Sprintf("the token does not rise: %v; then %v", a, b))
			}
		}
		if longest[i] == nil || b.End > longest[i].End {
			longest[i] = b
		}
		if highest[i] == nil || b.Token > highest[i].Token {
			highest[i] = b
		}
	}
	return found
}

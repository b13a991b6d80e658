package backendtest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

// An Interval is the time that somebody had a lock for, from after it took it to before it
// let it go, so that it is shorter than the real one.
type Interval struct {
	Who        string
	Shared     bool
	Start, End time.Duration
	Token      uint64 // 0: none
}

func (i Interval) String() string {
	how := "exclusive"
	if i.Shared {
		how = "shared"
	}
	return fmt.Sprintf("%s, %s, token %d, %.6f..%.6f", i.Who, how, i.Token, i.Start.Seconds(), i.End.Seconds())
}

// Faults says what is wrong with the holders of one lock, which it sorts by their
// beginnings. Nobody is inside with one that is alone. With fencing tokens everybody has
// one, which is greater than all before; only those that share may have that of those that
// shared before them. Without, nobody has one.
func Faults(all []Interval, tokens bool) (found []string) {
	slices.SortStableFunc(all, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	var longest, highest [2]*Interval // of those alone, of those who share
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

// Together counts the pairs of holders, sorted by their beginnings, that had the lock at
// the same time.
func Together(all []Interval) (pairs int) {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.Start < a.End {
				pairs++
			}
		}
	}
	return pairs
}

// Judge reports the first faults.
func Judge(t *testing.T, all []Interval, tokens bool) {
	t.Helper()
	found := Faults(all, tokens)
	for _, fault := range found[:min(len(found), 10)] {
		t.Error(fault)
	}
}

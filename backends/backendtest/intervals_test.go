package backendtest

import (
	"strings"
	"testing"
	"time"
)

// TestFaults: what is right, and what is wrong, and that it is found for its own reason.
func TestFaults(t *testing.T) {
	held := func(start, end time.Duration, token uint64) Interval { return Interval{"A", false, start, end, token} }
	shares := func(start, end time.Duration, token uint64) Interval { return Interval{"A", true, start, end, token} }
	const overlap, falls, none, some = "two holders", "does not rise", "token 0, but tokens: true", "but tokens: false"
	for name, c := range map[string]struct {
		all   []Interval
		fault string
	}{
		"one after the other":           {[]Interval{held(1, 2, 1), held(2, 3, 2)}, ""},
		"in any order":                  {[]Interval{held(2, 3, 2), held(1, 2, 1)}, ""},
		"shared, at the same time":      {[]Interval{shares(1, 9, 1), shares(2, 3, 1)}, ""},
		"shared, of two generations":    {[]Interval{shares(1, 2, 1), shares(2, 3, 2)}, ""},
		"two inside":                    {[]Interval{held(1, 3, 1), held(2, 4, 2)}, overlap},
		"one inside another":            {[]Interval{held(1, 9, 1), held(2, 3, 2)}, overlap},
		"one inside the last but one":   {[]Interval{shares(1, 9, 1), shares(2, 3, 1), held(4, 5, 2)}, overlap},
		"alone among those who share":   {[]Interval{shares(1, 3, 1), held(2, 4, 2)}, overlap},
		"a share of what is held alone": {[]Interval{held(1, 3, 1), shares(2, 4, 2)}, overlap},
		"a moment inside another":       {[]Interval{held(1, 3, 1), held(2, 2, 2)}, overlap},
		"the same token":                {[]Interval{held(1, 2, 1), held(2, 3, 1)}, falls},
		"a smaller token":               {[]Interval{held(1, 2, 7), held(2, 3, 6)}, falls},
		"the token of before the last":  {[]Interval{held(1, 2, 7), held(2, 3, 8), held(3, 4, 7)}, falls},
		"the token of those who shared": {[]Interval{shares(1, 2, 1), held(2, 3, 1)}, falls},
		"the token of one alone":        {[]Interval{held(1, 2, 1), shares(2, 3, 1)}, falls},
		"a smaller one of who shares":   {[]Interval{shares(1, 2, 3), shares(2, 3, 1)}, falls},
		"no token before one":           {[]Interval{held(1, 2, 0), held(2, 3, 5)}, none},
		"no token after one":            {[]Interval{held(1, 2, 5), held(2, 3, 0)}, none},
		"no token beside one":           {[]Interval{shares(1, 2, 5), shares(1, 2, 0)}, none},
	} {
		found := Faults(c.all, true)
		if c.fault == "" && len(found) > 0 || c.fault != "" && (len(found) != 1 || !strings.Contains(found[0], c.fault)) {
			t.Errorf("%s: got %q, want %q", name, found, c.fault)
		}
	}
	if found := Faults([]Interval{held(1, 2, 0), held(2, 3, 0)}, false); len(found) > 0 {
		t.Errorf("without tokens: %q", found)
	}
	if found := Faults([]Interval{held(1, 2, 0), held(2, 3, 5)}, false); len(found) != 1 || !strings.Contains(found[0], some) {
		t.Errorf("a token where there are none: %q", found)
	}
}

package holds

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFaults: right and wrong histories. Both judges find the wrong ones; the one that goes by
// order gives its own reason.
func TestFaults(t *testing.T) {
	held := func(start, end time.Duration, token uint64) Hold {
		return Hold{Who: "A", Start: start, End: end, Token: token}
	}
	shares := func(start, end time.Duration, token uint64) Hold {
		return Hold{Who: "A", Shared: true, Start: start, End: end, Token: token}
	}
	const overlap, falls, none, some = "two holders", "does not rise", "token 0, but tokens: true", "but tokens: false"
	for name, c := range map[string]struct {
		all   []Hold
		fault string
	}{
		"one after the other":           {[]Hold{held(1, 2, 1), held(2, 3, 2)}, ""},
		"in any order":                  {[]Hold{held(2, 3, 2), held(1, 2, 1)}, ""},
		"shared, at the same time":      {[]Hold{shares(1, 9, 1), shares(2, 3, 1)}, ""},
		"shared, of two generations":    {[]Hold{shares(1, 2, 1), shares(2, 3, 2)}, ""},
		"two inside":                    {[]Hold{held(1, 3, 1), held(2, 4, 2)}, overlap},
		"one inside another":            {[]Hold{held(1, 9, 1), held(2, 3, 2)}, overlap},
		"one inside the last but one":   {[]Hold{shares(1, 9, 1), shares(2, 3, 1), held(4, 5, 2)}, overlap},
		"one that never lets go":        {[]Hold{held(1, Open, 1), held(3, 4, 2)}, overlap},
		"alone among those who share":   {[]Hold{shares(1, 3, 1), held(2, 4, 2)}, overlap},
		"a share of what is held alone": {[]Hold{held(1, 3, 1), shares(2, 4, 2)}, overlap},
		"a moment inside another":       {[]Hold{held(1, 3, 1), held(2, 2, 2)}, overlap},
		"the same token":                {[]Hold{held(1, 2, 1), held(2, 3, 1)}, falls},
		"a smaller token":               {[]Hold{held(1, 2, 7), held(2, 3, 6)}, falls},
		"the token of before the last":  {[]Hold{held(1, 2, 7), held(2, 3, 8), held(3, 4, 7)}, falls},
		"the token of those who shared": {[]Hold{shares(1, 2, 1), held(2, 3, 1)}, falls},
		"the token of one alone":        {[]Hold{held(1, 2, 1), shares(2, 3, 1)}, falls},
		"a smaller one of who shares":   {[]Hold{shares(1, 2, 3), shares(2, 3, 1)}, falls},
		"no token before one":           {[]Hold{held(1, 2, 0), held(2, 3, 5)}, none},
		"no token after one":            {[]Hold{held(1, 2, 5), held(2, 3, 0)}, none},
		"no token beside one":           {[]Hold{shares(1, 2, 5), shares(1, 2, 0)}, none},
	} {
		check(t, name, c.all, true, c.fault)
	}
	check(t, "without tokens", []Hold{held(1, 2, 0), held(2, 3, 0)}, false, "")
	check(t, "a token where there are none", []Hold{held(1, 2, 0), held(2, 3, 5)}, false, some)
	check(t, "an overlap without tokens", []Hold{held(1, 3, 0), held(2, 4, 0)}, false, overlap)
}

func check(t *testing.T, name string, all []Hold, tokens bool, fault string) {
	t.Helper()
	Sort(all)
	found := byOrder(all, tokens)
	if fault == "" && len(found) > 0 || fault != "" && (len(found) != 1 || !strings.Contains(found[0], fault)) {
		t.Errorf("%s: got %q, want %q", name, found, fault)
	}
	if found := byModel(all, tokens); (len(found) > 0) != (fault != "") {
		t.Errorf("%s: by the model %q, want %q", name, found, fault)
	}
}

// TestLostBefore: a holder that did not run for a while says that it has the lock, and was told
// of a loss from before that. It did not have the lock when it said so.
func TestLostBefore(t *testing.T) {
	late := func(end time.Duration) []string {
		return Faults([]Hold{{Start: 1, End: 2, Token: 7}, {Start: 3, End: 4, Token: 9}, {Start: 5, End: end, Token: 8}}, true)
	}
	if faults := late(3); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	if len(late(6)) == 0 {
		t.Error("a token that falls is no fault")
	}
}

// TestJudgesAgree: in any history of exclusive holders, both judges find a fault, or neither
// does.
func TestJudgesAgree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	upTo := func(n int64) time.Duration { return time.Duration(random.Int64N(n)) }
	faulty := 0
	const histories = 3000
	for range histories {
		var all []Hold
		at, n := time.Duration(1), 3+random.IntN(2*chunkSize)
		for i := range n {
			h := Hold{Start: at + 1 + upTo(5), Token: uint64(10*i + 40)}
			h.End = h.Start + 1 + upTo(5)
			h.Wanted = max(h.Start-1-upTo(20), 0)
			h.Freed = h.End + upTo(20)
			if random.IntN(2*n) == 0 {
				h.Token -= uint64(random.IntN(30))
			}
			if at = h.End; random.IntN(2*n) == 0 {
				at -= 3
			}
			all = append(all, h)
		}
		Sort(all)
		inOrder, allowed := byOrder(all, true), byModel(all, true)
		if len(inOrder) > 0 {
			faulty++
		}
		if (len(inOrder) > 0) != (len(allowed) > 0) {
			t.Fatalf("seed %d: by order %q, by the model %q of %v", seed, inOrder, allowed, all)
		}
	}
	if t.Logf("%d of %d histories have a fault", faulty, histories); faulty == 0 || faulty == histories {
		t.Error("that says nothing")
	}
}

// TestManySharers: that a crowd shares the lock in groups is judged soon, though each member may have
// come and gone at many moments.
func TestManySharers(t *testing.T) {
	const group, groups, second = 8, 5, time.Second
	var all []Hold
	for i := range groups * group {
		at := time.Duration(i/group) * 10 * second
		h := Hold{Shared: true, Token: uint64(i/group + 1), Start: at + 3*second, End: at + 6*second, Freed: at + 9*second}
		h.Wanted = max(at-20*second, 1)
		all = append(all, h)
	}
	began := time.Now()
	if found := byModel(all, true); len(found) > 0 {
		t.Errorf("after %v: %q", time.Since(began), found)
	}
	all[len(all)-1].Token = 1 // it was the token of those who had gone
	if len(byModel(all, true)) == 0 {
		t.Error("an old token is no fault")
	}
	t.Log(time.Since(began))
}

// TestHistory: the story becomes holds, except for what killed processes may still tell.
func TestHistory(t *testing.T) {
	var h History
	h.Take(Hold{Who: "A", Start: 5, Token: 2})
	h.Give("A", 6)
	h.Take(Hold{Who: "B", Start: 1, Token: 1})
	h.Kill("B", 3)
	h.Give("B", 4) // it is dead
	h.Kill("C", 7)
	h.Take(Hold{Who: "C", Start: 8, Token: 3})
	h.Give("C", 9)
	h.Take(Hold{Who: "B", Start: 10, Token: 4}) // another process with the same name
	want := []Hold{{Who: "B", Start: 1, End: 3, Token: 1}, {Who: "A", Start: 5, End: 6, Token: 2}, {Who: "B", Start: 10, End: Open, Token: 4}}
	if all := h.All(); !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	h.Take(Hold{Who: "B", Start: 11, Token: 5})
	if len(Faults(h.All(), true)) == 0 {
		t.Error("that it takes what it has is no fault")
	}
}

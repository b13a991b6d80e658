package history

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// written makes a history by hand: each line is want, enter, leave, token and mode.
func written(lines ...string) *lock {
	l := &lock{address: "test"}
	for i, line := range lines {
		var want, enter, leave time.Duration
		m := membership{lock: l}
		var mode string
		if _, err := fmt.Sscan(line, &want, &enter, &leave, &m.token, &mode); err != nil {
			panic(err)
		}
		m.shared = mode == "shared"
		l.sections = append(l.sections, &section{who: fmt.Sprint(i), want: want, enter: enter, leave: leave, memberships: []membership{m}})
	}
	return l
}

// TestJudges: what is right to both, and what is wrong.
func TestJudges(t *testing.T) {
	for name, c := range map[string]struct {
		good  bool
		lines []string
	}{
		"one after the other":           {true, []string{"1 2 3 1 alone", "1 4 5 2 alone"}},
		"without tokens":                {true, []string{"1 2 3 0 alone", "1 4 5 0 alone"}},
		"no token before one":           {false, []string{"1 2 3 0 alone", "1 4 5 5 alone"}},
		"no token after one":            {false, []string{"1 2 3 5 alone", "1 4 5 0 alone"}},
		"shared, at the same time":      {true, []string{"1 2 9 1 shared", "1 4 5 1 shared"}},
		"shared, of two generations":    {true, []string{"1 2 3 1 shared", "1 4 5 2 shared"}},
		"two inside":                    {false, []string{"1 2 5 1 alone", "1 4 6 2 alone"}},
		"one inside another":            {false, []string{"1 2 9 1 alone", "1 4 6 2 alone"}},
		"one who never leaves":          {false, []string{"1 2 0 1 alone", "1 4 6 2 alone"}},
		"alone among those who share":   {false, []string{"1 2 5 1 shared", "1 4 6 2 alone"}},
		"a share of what is held alone": {false, []string{"1 2 5 1 alone", "1 4 6 2 shared"}},
		"the same token":                {false, []string{"1 2 3 1 alone", "1 4 5 1 alone"}},
		"a smaller token":               {false, []string{"1 2 3 7 alone", "1 4 5 6 alone"}},
		"a token of before the last":    {false, []string{"1 2 3 7 alone", "4 5 6 8 alone", "1 7 8 8 alone"}},
		"the token of those who shared": {false, []string{"1 2 3 1 shared", "1 4 5 1 alone"}},
		"the token of one alone":        {false, []string{"1 2 3 1 alone", "1 4 5 1 shared"}},
	} {
		v := judge(written(c.lines...))
		if good := len(v.faults) == 0; good != c.good {
			t.Errorf("%s: by the order of sections: %q", name, v.faults)
		}
		if good := v.refused+v.undecided == 0; good != c.good {
			t.Errorf("%s: by porcupine: %+v", name, v)
		}
	}
}

// TestJudgesAgree: in any history of those who are alone, both find fault, or neither.
func TestJudgesAgree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	found := map[bool]int{}
	for range 3000 {
		var lines []string
		at, n := 1, 3+random.IntN(2*chunkSize)
		for i := range n {
			enter := at + 1 + random.IntN(5)
			leave, token := enter+1+random.IntN(5), 10*i+40
			if random.IntN(2*n) == 0 {
				token -= random.IntN(30)
			}
			at = leave
			if random.IntN(2*n) == 0 {
				at -= 3
			}
			lines = append(lines, fmt.Sprintf("%d %d %d %d alone", max(enter-1-random.IntN(20), 0), enter, leave, token))
		}
		v := judge(written(lines...))
		found[len(v.faults) > 0]++
		if (len(v.faults) > 0) != (v.refused > 0) || v.undecided > 0 {
			t.Fatalf("seed %d: %+v of %q", seed, v, lines)
		}
	}
	t.Logf("%d histories with a fault, %d without", found[true], found[false])
}

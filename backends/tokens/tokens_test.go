package tokens

import (
	"errors"
	"slices"
	"testing"
)

// TestRemoveOld: the newest number stays, with those that are kept beside it. At most so many are
// removed at once. A number that stays has all newer ones with it.
func TestRemoveOld(t *testing.T) {
	all := Numbers{1, 2, 3, 4, 5, 6}
	for name, c := range map[string]struct {
		most   int
		stays  uint64 // the number that cannot be removed
		newest uint64
		kept   uint64
		want   []uint64
	}{
		"all that are old": {100, 0, 6, 2, []uint64{1, 2, 3}},
		"a newer one":      {100, 0, 5, 2, []uint64{1, 2}},
		"none is kept":     {100, 0, 6, 0, []uint64{1, 2, 3, 4, 5}},
		"at most two":      {2, 0, 6, 2, []uint64{1, 2}},
		"one that stays":   {100, 2, 6, 2, []uint64{1}},
		"too young":        {100, 0, 2, 2, nil},
	} {
		var removed []uint64
		all.RemoveOld(c.newest, c.kept, c.most, func(n uint64) error {
			if n == c.stays {
				return errors.New("it stays")
			}
			removed = append(removed, n)
			return nil
		})
		if !slices.Equal(removed, c.want) {
			t.Errorf("%s: RemoveOld removed %d, want %d", name, removed, c.want)
		}
	}
}

func TestNewest(t *testing.T) {
	for want, n := range map[uint64]Numbers{0: nil, 7: {2, 7}} {
		if got := n.Newest(); got != want {
			t.Errorf("the newest of %d is %d, want %d", n, got, want)
		}
	}
}

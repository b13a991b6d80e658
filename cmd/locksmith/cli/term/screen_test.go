package term

import (
	"slices"
	"testing"
)

func TestFit(t *testing.T) {
	lines := []string{"title", "", "first lock: free", "second lock: held by ä"}
	for _, c := range []struct {
		width, height int
		want          []string
	}{
		{80, 24, lines},
		{24, 4, lines},
		{17, 5, []string{"title", "", "first lock: free", "second lock: hel", "d by ä"}},
		{23, 5, []string{"title", "", "first lock: free", "second lock: held by ä"}},
		{80, 3, []string{"first lock: free", "second lock: held by ä"}},
		{17, 2, []string{"first lock: free", "… and 2 lines mo"}},
		{80, 1, []string{"first lock: free"}},
		{17, 4, []string{"title", "", "first lock: free", "… and 2 lines mo"}},
		{0, 0, []string{"f"}},
	} {
		if got := fit(lines, c.width, c.height); !slices.Equal(got, c.want) {
			t.Errorf("fit to %d x %d: %q", c.width, c.height, got)
		}
	}
}

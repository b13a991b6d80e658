//go:build unix

package symlinks

import (
	"strings"
	"testing"

	"locksmith/backends/shelf"
)

// TestSuccessNames: names that success writes are read, and no others. The newest success is that
// of the last holder that there can have been.
func TestSuccessNames(t *testing.T) {
	id := strings.Repeat("0a", 16)
	var names []string
	for _, n := range []uint64{0, 3, 7, 5} {
		names = append(names, successNames.Of(n, id))
	}
	for most, want := range map[uint64]uint64{0: 0, 2: 0, 3: 3, 4: 3, 6: 5, 7: 7, 100: 7} {
		if got := shelf.Newest(slipsIn(names, most)); got.Number != want {
			t.Errorf("of successes up to %d the newest is %d, want %d", most, got.Number, want)
		}
	}
	for _, bad := range []string{"d.", "d.3", "d.03-" + id, "d.+3-" + id, "d.3-" + id[1:], "d.3-" + id + "x", "x.3-" + id, "d.-1-" + id} {
		if s, ok := successNames.Parse(bad); ok {
			t.Errorf("Parse takes %s for a success: %v", bad, s)
		}
	}
}

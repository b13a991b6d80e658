//go:build linux && amd64

package crash

import (
	"flag"
	"testing"

	"locksmith/test/lab"
)

var (
	long   = flag.Bool("long", false, "leave nothing out that takes long")
	update = flag.Bool("update", false, "write CRASHES.md anew; means -long")
)

func TestMain(m *testing.M) {
	lab.Parallel(24) // most of the tests wait
	*long = *long || *update
	lab.Main(m, map[string]func() int{"trace": tracing})
}

// besideOthers runs a test beside the others, but not a long one: that would starve what is judged
// by time, and two tests would write the page.
func besideOthers(t *testing.T) {
	if !*long {
		t.Parallel()
	}
}

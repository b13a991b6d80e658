//go:build linux && amd64

package crash

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	long   = flag.Bool("long", false, "leave nothing out that takes long")
	update = flag.Bool("update", false, "write CRASHES.md anew; means -long")
)

const (
	// waitLimit bounds each wait for what should come at once, on a slow machine.
	waitLimit = 60 * time.Second
	// soon bounds what is to happen at once, on a slow machine. It is far less than
	// the lease of those it is asked of.
	soon = 20 * time.Second
)

// TestMain is also the beginning of the programs that the tests start: this one, with
// a role for its first argument.
func TestMain(m *testing.M) {
	roles := map[string]func([]string) error{"trace": trace}
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	*long = *long || *update
	// Most of the tests wait.
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err) // the testing package has changed
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

//go:build unix

package interop

import (
	"flag"
	"os/exec"
	"testing"

	"locksmith/test/lab"
)

var (
	table = flag.Bool("table", false, "print README's table of what was seen")
	long  = flag.Bool("long", false, "compare all combinations of flock(1)'s options")
)

// TestMain lets many tests run at a time, because most of them wait.
func TestMain(m *testing.M) {
	lab.Parallel(64)
	lab.Main(m, nil)
}

// locksmith returns a command of locksmith.
func locksmith(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	lab.NotShort(t, "other people's programs take seconds")
	return exec.Command(lab.Program(t, "cmd/locksmith"), args...)
}

func mustWork(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

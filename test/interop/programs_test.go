package interop

import (
	"errors"
	"os/exec"
	"testing"

	"locksmith/test/programs"
)

// built is locksmith, and what it runs.
var built = programs.New("locksmith/cmd/locksmith", "locksmith/test/ftplab/witness")

// statusOf runs a command to its end.
func statusOf(t *testing.T, cmd *exec.Cmd) (status int, said string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

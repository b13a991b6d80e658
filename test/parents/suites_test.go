//go:build unix

package parents

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// suites are the tests that a client has in its own language, run as its users run them.
var suites = []struct {
	client  string // below client
	program string
	args    []string
	passes  string // in the output, besides the exit status
}{
	{"perl", "prove", []string{"t"}, "Result: PASS"},
	{"tcl", "tclsh", []string{"tests/all.tcl"}, "Skipped\t0\tFailed\t0"},
	{"python", "python3", []string{"-m", "unittest"}, "\nOK\n"},
	{"node", "node", []string{"--test", "--test-reporter=tap"}, "\n# skipped 0\n"},
}

// TestSuites: each client's own tests pass with our helper, and none is skipped.
func TestSuites(t *testing.T) {
	t.Parallel()
	for _, s := range suites {
		t.Run(s.client, func(t *testing.T) {
			t.Parallel()
			lab.NotShort(t, "a suite starts many helpers")
			lab.NeedProgram(t, s.program)
			cmd := exec.Command(s.program, s.args...)
			cmd.Dir = filepath.Join("../../client", s.client)
			cmd.Env = append(cmd.Environ(), "LOCKSMITH="+lab.Program(t, "cmd/locksmith"), "TMPDIR="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), s.passes) || strings.Contains(string(out), "skipped:") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

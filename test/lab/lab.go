// Package lab has what tests of several packages need that no package of ours may be
// imported for: it imports none.
package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// lacking skips a test on a machine that cannot run it. On CI it fails.
func lacking(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// StartC compiles a C program and starts it. It is killed when the test ends.
func StartC(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		lacking(t, "no C compiler")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

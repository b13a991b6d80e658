package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// StartC compiles a C program and starts it.
func StartC(t testing.TB, text string) *Process {
	t.Helper()
	cc := NeedProgram(t, "cc")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Start(t, exec.Command(program))
}

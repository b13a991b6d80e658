package interop

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs are built once: locksmith, and what it runs.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "interop-"); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+"/", "locksmith/cmd/locksmith", "locksmith/test/ftplab/witness").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, os.Chmod(dir, 0o755) // other users run them, too
})

func removePrograms() {
	if dir, _ := programs(); dir != "" {
		_ = os.RemoveAll(dir) // it is in the directory for temporary files
	}
}

// program returns where a program is.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	mustWork(t, err)
	return filepath.Join(dir, name)
}

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

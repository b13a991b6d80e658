package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs are built once, static and without the race detector: starting them is most
// of the work.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "history-"); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir+"/", "locksmith/cmd/locksmith", "locksmith/test/history/parent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
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
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

package ftplab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programs are built once: locksmith, and what it runs.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "ftplab-"); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+"/", "locksmith/cmd/locksmith", "locksmith/test/ftplab/witness", "locksmith/test/ftplab/phonebook").CombinedOutput()
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

func cutZone() (key, value string) {
	key, value, _ = strings.Cut(zone, "=")
	return key, value
}

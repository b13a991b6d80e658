//go:build linux

package security

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/test/lab"
	"locksmith/test/programs"
)

const (
	// patience bounds every wait of these tests; nothing depends on its length.
	patience = 30 * time.Second
	nobody   = 65534
)

// program is locksmith, where every user may run it.
var program string

// TestMain lets more tests run at a time than there are processors: most of them
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err) // the testing package has changed
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() { // all tests start programs
		return 0
	}
	helper := programs.Static("locksmith/cmd/locksmith")
	defer helper.Remove()
	dir, err := helper.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "locksmith")
	return m.Run()
}

func mustWork(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		lab.Lacking(t, "only root may play several users")
	}
}

// publicDir returns a directory that other users reach.
func publicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	mustWork(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode))
	return dir
}

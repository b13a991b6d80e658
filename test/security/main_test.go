//go:build linux

package security

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"locksmith/test/lab"
)

const nobody = 65534

func TestMain(m *testing.M) {
	lab.Parallel(8) // they wait most of the time
	lab.Main(m, map[string]func() int{roleSFTP: serveSFTP, roleReader: readAndLock})
}

// program returns locksmith's path, where every user may run it.
func program(t *testing.T) string {
	t.Helper()
	return lab.Program(t, "cmd/locksmith")
}

func mustWork(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// publicDir returns a directory that other users reach.
func publicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	mustWork(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode))
	return dir
}

//go:build unix

package backendtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const (
	nobodyVariable = "LOCKSMITH_TEST_NOBODY" // the directory for the copy's files
	nobody         = 65534
)

// AsNobody reports whether the test is to go on, because permissions bind this process.
// Root, which they do not bind, runs the same test in a copy of the test binary as
// another user, and is told false.
func AsNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir := PublicDir(t, 0o755)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		Lacking(t, "cannot become another user: "+err.Error())
	}
	cmd := sameTest(t, nobodyVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := runCopy(t, cmd); err != nil {
		t.Errorf("as uid %d: %v", nobody, err)
	}
	return false
}

// NobodysDir returns a directory of the user that AsNobody chose.
func NobodysDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := os.Getenv(nobodyVariable)
	if dir == "" {
		return PublicDir(t, mode)
	}
	MustWork(t, os.Chmod(dir, mode))
	return dir
}

// PublicDir returns a directory that other users reach.
func PublicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	MustWork(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode))
	return dir
}

// sameTest is a copy of the test binary that runs this test alone.
func sameTest(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := Copy(t, "", env...)
	cmd.Args = append(cmd.Args, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir, cmd.Stderr = "/", nil
	return cmd
}

func runCopy(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	out, err := cmd.CombinedOutput()
	t.Logf("the copy says:\n%s", out)
	return err
}

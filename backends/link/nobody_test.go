package link

import (
	"os"
	"syscall"
	"testing"

	"locksmith/backends/backendtest"
)

const (
	nobodyVariable = "LOCKSMITH_TEST_NOBODY" // the directory for the copy's files
	nobody         = 65534
)

// asNobody reports whether the test is to go on, because permissions bind this
// process. Root, which they do not bind, runs the same test in a copy of the
// test binary as another user, and is told false.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir := publicDir(t, 0o755)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		backendtest.Lacking(t, "cannot become another user: "+err.Error())
	}
	attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := runCopy(t, attr, nobodyVariable+"="+dir); err != nil {
		t.Errorf("as uid %d: %v", nobody, err)
	}
	return false
}

// runCopy runs the same test in a copy of the test binary.
func runCopy(t *testing.T, attr *syscall.SysProcAttr, env ...string) error {
	t.Helper()
	cmd := backendtest.Copy(t, "", env...)
	cmd.Args = append(cmd.Args, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir, cmd.Stderr = "/", nil
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	t.Logf("the copy says:\n%s", out)
	return err
}

// sharedDir returns a directory of the user that asNobody chose.
func sharedDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := os.Getenv(nobodyVariable)
	if dir == "" {
		return publicDir(t, mode)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

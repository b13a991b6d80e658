package lab

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// foreignProc is the variable that makes a test go on in a pid namespace of its own, with the
// /proc of the namespace around it.
const foreignProc = "LOCKSMITH_TEST_FOREIGN_PROC"

// InForeignProc reports whether the test runs in a pid namespace of its own with the /proc of the
// namespace around it. If not, it runs the same test in one.
func InForeignProc(t *testing.T) bool {
	t.Helper()
	if os.Getenv(foreignProc) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), foreignProc+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	}
	said, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Errorf("there it failed:\n%s", said)
	case err != nil:
		Lacking(t, "no pid namespace to be had: "+err.Error())
	case !strings.Contains(string(said), "--- PASS"):
		t.Errorf("there it did not run:\n%s", said)
	}
	return false
}

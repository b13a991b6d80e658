package sftpserver

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// TestWithoutNamespaces: where the kernel refuses namespaces, as in a container without privileges,
// a test is skipped, and says what is missing.
func TestWithoutNamespaces(t *testing.T) {
	if os.Getenv(lab.RoleVariable) != "" {
		Start(t, Options{})
		return
	}
	lab.NotShort(t, "starts an SFTP server")
	lab.NeedRoot(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(lab.NeedProgram(t, "setpriv"), "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", program, "-test.run=^TestWithoutNamespaces$", "-test.v")
	cmd.Env = append(os.Environ(), "CI=", lab.RoleVariable+"=without")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no namespaces here") {
		t.Errorf("the test ends with %v and says:\n%s\nwant that it is skipped, because there are no namespaces", err, out)
	}
}

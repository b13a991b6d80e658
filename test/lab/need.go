package lab

import (
	"os"
	"os/exec"
	"testing"
)

// Lacking skips a test on a machine that cannot run it. On CI the machine is chosen to be able
// to, so there the test fails. Every skip goes through Lacking or NotShort, except those that
// test/layers lists.
func Lacking(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// NeedRoot is for tests that mount file systems or play several users.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		Lacking(t, "only root may do this")
	}
}

// NeedProgram returns the path of a program that this machine should have.
func NeedProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Lacking(t, name+" is missing")
	}
	return path
}

// NotShort skips a test with -short: one that needs root or servers, builds programs or takes
// seconds.
func NotShort(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}

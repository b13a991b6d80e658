package backendtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// RoleVariable makes a copy of a test binary play a part of a test: its TestMain
// calls Main.
const RoleVariable = "LOCKSMITH_TEST_ROLE"

// Main is the TestMain of a package whose test binary plays parts as well: it runs the
// tests, or in a copy of the binary the part, which returns the exit status.
func Main(m *testing.M, parts map[string]func() int) {
	role := os.Getenv(RoleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	part, known := parts[role]
	if !known {
		panic("unknown role " + role)
	}
	os.Exit(part())
}

// Copy returns the test binary as a command that plays a part, with more of an
// environment. It is spared the second that the race detector waits before it
// lets a process exit.
func Copy(t *testing.T, role string, env ...string) *exec.Cmd {
	t.Helper()
	// Not by its path, parts of which may be closed to another user.
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", RoleVariable+"="+role), env...)
	cmd.Stderr = &strings.Builder{}
	return cmd
}

// Lacking skips a test on a machine that cannot run it. On CI, where the machine
// is chosen to be able to, it fails.
func Lacking(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// NeedRoot skips a test that mounts file systems or plays several users.
func NeedRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		Lacking(t, "only root may do this")
	}
}

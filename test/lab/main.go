package lab

import (
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// RoleVariable makes a copy of a test binary play a part in a test.
const RoleVariable = "LOCKSMITH_TEST_ROLE"

// Main is the TestMain of a package that asks for programs, or whose test binary also plays
// parts. It runs the tests. In a copy of the binary it plays the part instead, whose result is
// the exit status.
func Main(m *testing.M, parts map[string]func() int) {
	role := os.Getenv(RoleVariable)
	if role == "" {
		programs.removed = true
		status := m.Run()
		removePrograms()
		os.Exit(status)
	}
	part, known := parts[role]
	if !known {
		panic("unknown role " + role)
	}
	os.Exit(part())
}

// Parallel lets more tests run at a time than there are processors. It is for packages whose
// tests mostly wait. Call it before Main.
func Parallel(n int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the testing package has changed
	}
}

// Copy returns the test binary as a command that plays a part, with additions to the environment.
// It turns off the second that the race detector waits before a process exits.
func Copy(role string, env ...string) *exec.Cmd {
	// Not by its path, which another user may not be able to reach.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", RoleVariable+"="+role), env...)
	return cmd
}

package lab

import (
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// RoleVariable makes a copy of a test binary play a part of a test.
const RoleVariable = "LOCKSMITH_TEST_ROLE"

// Main is the TestMain of a package that asks for programs, or whose test binary plays parts
// as well: it runs the tests, or in a copy of the binary the part, which returns the exit
// status.
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

// Parallel lets more tests run at a time than there are processors, in a package whose tests
// wait most of the time. It is called before Main.
func Parallel(n int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the testing package has changed
	}
}

// Copy returns the test binary as a command that plays a part, with more of an environment.
// It is spared the second that the race detector waits before it lets a process exit.
func Copy(role string, env ...string) *exec.Cmd {
	// Not by its path, parts of which may be closed to another user.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", RoleVariable+"="+role), env...)
	return cmd
}

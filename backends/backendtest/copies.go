package backendtest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
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

// Chaos lets copies contend and kills some of them with -9 at random moments,
// each replaced by another. Those that are left must end well.
func Chaos(t *testing.T, contenders, kills int, contender func() *exec.Cmd) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	start := func() *exec.Cmd {
		cmd := contender()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	crowd := make([]*exec.Cmd, contenders)
	for i := range crowd {
		crowd[i] = start()
	}
	for range kills {
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		i := random.IntN(contenders)
		_ = crowd[i].Process.Kill()
		_ = crowd[i].Wait()
		crowd[i] = start()
	}
	for _, c := range crowd {
		if err := c.Wait(); err != nil {
			t.Errorf("contender: %v\n%s", err, c.Stderr)
		}
	}
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

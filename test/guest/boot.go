//go:build linux

package guest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// A Lab is what all guests of a lab have in common. Paths are relative to the test's directory.
type Lab struct {
	Dir      string   // the lab's directory, as lab.sh wants it
	Programs []string // for the hosts' PATH
}

const script = "../guest/lab.sh"

// New builds the test itself for the guests of the lab at guest. The test skips if no guest can
// be booted.
func New(t *testing.T, programs ...string) Lab {
	t.Helper()
	return In(t, "guest", programs...)
}

// In is New for the guests of the lab at dir, which may be another test's.
func In(t *testing.T, dir string, programs ...string) Lab {
	t.Helper()
	if out, err := exec.Command(script, "--check", dir).CombinedOutput(); err != nil {
		lab.Lacking(t, "no guests here: "+string(out))
	}
	self := filepath.Join(t.TempDir(), "lab.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-o", self, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if status, said := lab.Run(t, build); status != 0 {
		t.Fatal(said)
	}
	return Lab{dir, append(programs, self)}
}

// A Guest says how a guest is booted.
type Guest struct {
	Hosts    int
	Disk     bool     // the guest has an empty /dev/ubda
	Settings []string // NAME=VALUE
	Run      string   // the tests in it, as go test has it
	CPU      int
	Limit    time.Duration // the guest is ended after this time; 0: just before the test's deadline, or after an hour
}

// Boot runs tests in a guest and passes on what they said.
func (l Lab) Boot(t *testing.T, g Guest) (said string) {
	t.Helper()
	limit := cmp.Or(g.Limit, time.Hour)
	if end, any := t.Deadline(); any && g.Limit == 0 {
		limit = time.Until(end) - time.Minute
	}
	args := []string{"--hosts", strconv.Itoa(g.Hosts), "--cpu", strconv.Itoa(g.CPU), "--timeout", strconv.Itoa(int(limit.Seconds()))}
	if g.Disk {
		args = append(args, "--disk")
	}
	for _, s := range g.Settings {
		args = append(args, "--set", s)
	}
	for _, p := range l.Programs {
		args = append(args, "--bin", p)
	}
	args = append(args, l.Dir, "--", "lab.test", "-test.v", "-test.timeout", "0", "-test.run", g.Run)
	cmd := exec.CommandContext(t.Context(), script, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}       // a test that panics leaves no guest
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "    --- PASS: ") {
		t.Errorf("the guest: %v", err)
	}
	return string(out)
}

// Processors holds every second one that this process may use, for as many guests at a time: on
// two processors of a virtual machine, two guests took three to four times as long as one alone.
func Processors(t *testing.T) chan int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	all := make(chan int, (set.Count()+1)/2)
	for cpu, wanted := 0, true; len(all) < cap(all); cpu++ {
		if !set.IsSet(cpu) {
			continue
		}
		if wanted {
			all <- cpu
		}
		wanted = !wanted
	}
	return all
}

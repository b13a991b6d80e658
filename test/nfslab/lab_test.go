//go:build linux

package nfslab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	hosts     = 3
	labScript = "lab.sh"
	// guestLimit is how long all scenarios of one cell may take together.
	guestLimit = 12 * time.Minute
	// crashLimit is what all of test/crash's cells may take besides.
	crashLimit = 40 * time.Minute
)

// TestLab boots one guest for each cell, and shows each of its scenarios as a
// test. It runs as many guests at a time as there are processors.
func TestLab(t *testing.T) {
	if inGuest() {
		t.Skip("this is the guest: see TestGuest")
	}
	needLab(t)
	programs := build(t)
	processors := allowed(t)
	for _, c := range cells {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			cpu := <-processors
			defer func() { processors <- cpu }()
			c.boot(t, programs, cpu)
		})
	}
}

// needLab skips a test that this machine cannot run, except where that would
// hide that nothing was tested.
func needLab(t *testing.T) {
	t.Helper()
	unfit := t.Skipf
	if os.Getenv("CI") == "true" {
		unfit = t.Fatalf
	}
	if testing.Short() {
		t.Skip("the lab takes minutes: not with -short")
	}
	if out, err := exec.Command("./"+labScript, "--check").CombinedOutput(); err != nil {
		unfit("no NFS lab here: %s (%v)", bytes.TrimSpace(out), err)
	}
}

// build makes the programs that go into the guest: locksmith, the benchmark's
// looper, and this test.
func build(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	locksmith, looper, guest := filepath.Join(dir, "locksmith"), filepath.Join(dir, "looper"), filepath.Join(dir, "nfslab.test")
	for _, args := range [][]string{
		{"build", "-o", locksmith, "locksmith/cmd/locksmith"},
		{"build", "-o", looper, "locksmith/test/bench/looper"},
		{"test", "-c", "-o", guest, "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	return []string{locksmith, looper, guest}
}

// allowed holds the processors that this process may use.
func allowed(t *testing.T) chan int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	all := make(chan int, set.Count())
	for cpu := 0; len(all) < cap(all); cpu++ {
		if set.IsSet(cpu) {
			all <- cpu
		}
	}
	return all
}

// boot runs a cell's scenarios in a guest and reports them.
func (c cell) boot(t *testing.T, programs []string, cpu int) {
	which := c.pattern()
	if which == "" {
		t.Skip("no scenario for this cell")
	}
	limit, needed := guestLimit, hosts
	if strings.Contains(which, "crash") {
		limit, needed = limit+crashLimit, crashHosts
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit+2*time.Minute)
	defer cancel()
	args := []string{"--vers", c.version, "--fs", c.fs, "--hosts", fmt.Sprint(needed), "--cpu", strconv.Itoa(cpu),
		"--timeout", fmt.Sprintf("%.0f", limit.Seconds())}
	for _, p := range programs {
		args = append(args, "--bin", p)
	}
	args = append(args, "--", "nfslab.test", "-test.v=test2json", "-test.run", "^TestGuest$/"+which)
	cmd := exec.CommandContext(ctx, "./"+labScript, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
	cmd.WaitDelay = 20 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // a test that panics leaves no guest
	start := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("the guest ran for %.0f s", time.Since(start).Seconds())
	report(t, string(out), err)
	keepCells(t, string(out))
}

// report turns the guest's verbose output into subtests.
func report(t *testing.T, out string, err error) {
	passed, failed := 0, 0
	for _, r := range parse(out) {
		switch r.verdict {
		case "PASS":
			passed++
		case "FAIL":
			failed++
		}
		t.Run(r.name, func(t *testing.T) {
			t.Log(r.took + "\n" + r.output)
			switch r.verdict {
			case "FAIL":
				t.Fail()
			case "SKIP":
				t.SkipNow()
			case "":
				t.Error("it did not end")
			}
		})
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && failed > 0 {
		return // the scenarios have told
	}
	if err != nil || passed+failed == 0 {
		t.Fatalf("the guest: %v, after %d scenarios; it said last:\n%s", err, passed+failed, tail(out))
	}
}

// tail returns the last lines of a text.
func tail(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

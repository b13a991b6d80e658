//go:build unix

package cli

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// kindsOfLocks are addresses below a directory, of kinds that all hold back the same way.
var kindsOfLocks = map[string]func(dir string) string{
	"local":           func(dir string) string { return "local:" + dir + "/lock" },
	"link":            func(dir string) string { return "link:" + dir + "/lock" },
	"nfs":             func(dir string) string { return "nfs:" + dir + "/lock" },
	"nfs, shared":     func(dir string) string { return "shared:nfs:" + dir + "/lock" },
	"mkdir":           func(dir string) string { return "mkdir:" + dir + "/lock" },
	"mkdir style=dir": func(dir string) string { return "mkdir:" + dir + "/lock?style=dir" },
}

// TestJobOutlivesRun: after a kill -9 of run, what its command started goes on, and nobody else
// gets the lock before that has ended. Then the lock is broken by proof: the lease would take an
// hour.
func TestJobOutlivesRun(t *testing.T) {
	lab.NotShort(t, "starts dozens of processes")
	t.Parallel()
	for name, address := range kindsOfLocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lock, log, end := address(dir), filepath.Join(dir, "log"), filepath.Join(dir, "end")
			if err := syscall.Mkfifo(end, 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) *lab.Process {
				return locksmith(t, append([]string{"run", "--lease", "1h"}, args...)...)
			}
			// These descriptors are those that people choose.
			job := `exec 9>/dev/null 100>/dev/null 200>/dev/null; (touch up; read x <end; echo first >>log) & wait; true`
			first := run(lock, "--", "bash", "-c", "cd "+dir+"; "+job)
			mustAppear(t, filepath.Join(dir, "up"))
			first.Kill()

			exclusive := strings.TrimPrefix(lock, "shared:")
			run("--timeout", "0", exclusive, "--", "true").Exits(75)
			_, said := lab.Run(t, exec.Command("locksmith", "status", exclusive))
			if !strings.Contains(said, "its helper is gone, what it guarded may still run") || !strings.Contains(said, "[left over]") {
				t.Errorf("status does not say that what the command started still runs: %s", said)
			}
			second := run(exclusive, "--", "sh", "-c", "echo second >>"+log)
			fifo, err := os.OpenFile(end, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = fifo.WriteString("\n")
			_ = fifo.Close()
			second.Exits(0)
			if got, err := os.ReadFile(log); err != nil || string(got) != "first\nsecond\n" {
				t.Errorf("the next job did not wait for what the first left running; the log is %q, %v", got, err)
			}
		})
	}
}

// TestDaemonKeepsNothing: what a command leaves running does not keep the lock when the command
// has ended in good order.
func TestDaemonKeepsNothing(t *testing.T) {
	t.Parallel()
	for name, address := range kindsOfLocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lock := address(dir)
			out, err := exec.Command("locksmith", "run", lock, "--", "sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!").Output()
			if err != nil {
				t.Fatal(err)
			}
			daemon, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(daemon, syscall.SIGKILL) }()
			locksmith(t, "run", "--timeout", "0", lock, "--", "true").Exits(0)
			if err := syscall.Kill(daemon, 0); err != nil {
				t.Errorf("the daemon does not run: %v", err)
			}
		})
	}
}

var long = flag.Bool("long", false, "kill ten times as many runs")

// TestRunsKilledAtRandom: six workers run commands under one lock again and again, and a third
// of the runs is killed. The commands, and what they start, take a witness, which the kernel
// drops when the last of them has closed it. Nobody may find it taken.
func TestRunsKilledAtRandom(t *testing.T) {
	lab.NotShort(t, "starts hundreds of processes")
	t.Parallel()
	const overlap = 99
	rounds := 25
	if *long {
		rounds *= 10
	}
	for _, kind := range []string{"link", "local", "mkdir style=dir", "nfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lock, witness := kindsOfLocks[kind](dir), filepath.Join(dir, "witness")
			var kills, ends, overlaps atomic.Int32
			var workers sync.WaitGroup
			for range 6 {
				workers.Go(func() {
					for range rounds {
						hold := strconv.FormatFloat(rand.Float64()*0.004, 'f', 4, 64)
						c := exec.Command("locksmith", "run", "--poll", "10ms..20ms", lock, "--",
							"flock", "-n", "-E", strconv.Itoa(overlap), witness, "sleep", hold)
						if err := c.Start(); err != nil {
							t.Error(err)
							return
						}
						killed := rand.IntN(3) == 0
						if killed {
							timer := time.AfterFunc(rand.N(60*time.Millisecond), func() { _ = c.Process.Kill() })
							defer timer.Stop()
						}
						err := c.Wait()
						var exit *exec.ExitError
						switch {
						case errors.As(err, &exit) && exit.ExitCode() == overlap:
							overlaps.Add(1)
						case errors.As(err, &exit) && exit.ExitCode() < 0:
							kills.Add(1)
						default:
							ends.Add(1)
						}
					}
				})
			}
			workers.Wait()
			t.Logf("%d runs killed, %d ended, %d met another's command", kills.Load(), ends.Load(), overlaps.Load())
			if kills.Load() == 0 || ends.Load() == 0 || overlaps.Load() > 0 {
				t.Fail()
			}
		})
	}
}

//go:build linux

package nfslab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mount  = "/mnt/nfs"    // on every host
	export = "/mnt/export" // the truth, on the server, where the scenarios run
	// waitLimit bounds each wait for what should come at once, on a slow machine.
	waitLimit = 60 * time.Second
)

// now is the time since boot, which all hosts of the guest share and nobody can
// set.
func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// onHost is a command that runs on host k.
func onHost(ctx context.Context, k int, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "onhost", append([]string{strconv.Itoa(k)}, argv...)...)
	cmd.WaitDelay = time.Second
	return cmd
}

// do runs a command of the lab, which must succeed.
func do(t *testing.T, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// script runs a shell script on host k, which must succeed.
func script(t *testing.T, k int, text string) string {
	t.Helper()
	return do(t, "onhost", strconv.Itoa(k), "sh", "-euc", text)
}

// place makes a directory for a test and returns the name of a lock in it, as
// the hosts see it.
func place(t *testing.T) string {
	t.Helper()
	dir := strings.ReplaceAll(strings.TrimPrefix(t.Name(), "TestGuest/"), "/", "-")
	if err := os.Mkdir(filepath.Join(export, dir), 0o777); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(mount, dir, "L")
}

// onServer returns where the server has a file of the hosts'.
func onServer(path string) string { return export + strings.TrimPrefix(path, mount) }

// address is a lock's: an nfs: lock has none but its path.
func address(lock string) string {
	if strings.Contains(lock, ":") {
		return lock
	}
	return "nfs:" + lock
}

// tree lists everything at a lock, as the server has it.
func tree(lock string) []string {
	var all []string
	_ = filepath.WalkDir(onServer(lock), func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			all = append(all, strings.TrimPrefix(path, onServer(lock)))
		}
		return nil
	})
	return all
}

// A status is what locksmith status --json says of one lock.
type status struct {
	State   string
	Token   uint64
	Holders []struct{ ID, Host, Mode string }
	Waiters []struct{ ID, Host, Mode string }
}

// look asks host k for the status of a lock.
func look(t *testing.T, k int, lock string) status {
	t.Helper()
	var all struct{ Locks []status }
	out := do(t, "onhost", strconv.Itoa(k), "locksmith", "status", "--json", address(lock))
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Locks) != 1 {
		t.Fatalf("status on host %d: %v\n%s", k, err, out)
	}
	return all.Locks[0]
}

// heldBy reports that host k sees the lock held by exactly one acquisition.
func heldBy(t *testing.T, k int, lock, id string) {
	t.Helper()
	s := look(t, k, lock)
	if s.State != "held" || len(s.Holders) != 1 || s.Holders[0].ID != id {
		t.Errorf("status on host %d: %+v, want it held by %s", k, s, id)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := now() + waitLimit; !ok(); time.Sleep(20 * time.Millisecond) {
		if now() > end {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

// queued waits until n acquisitions have an exclusive reservation: holders and
// waiters, with dead ones among them.
func queued(t *testing.T, lock string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d in the queue", n), func() bool {
		all, _ := filepath.Glob(onServer(lock) + "/R/x.*")
		return len(all) == n
	})
}

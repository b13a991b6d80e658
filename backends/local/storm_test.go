//go:build unix

package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// storm sends thousands of signals, each of which may interrupt a system call.
func storm(h *lab.Helper) {
	for range 1000 {
		for _, s := range []unix.Signal{unix.SIGCONT, unix.SIGWINCH, unix.SIGURG, unix.SIGUSR1, unix.SIGUSR2} {
			h.Signal(s)
		}
	}
}

// isAsleep reports whether a helper already watches the file. Before that, some signals still
// have their deadly default.
func isAsleep(h *lab.Helper) bool {
	dir := filepath.Join("/proc", strconv.Itoa(h.PID()), "fd")
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, _ := os.Readlink(filepath.Join(dir, fd.Name())); strings.Contains(to, "inotify") {
			return true
		}
	}
	return false
}

func TestSignalStorm(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		lab.Lacking(t, "needs /proc to see when a waiter sleeps")
	}
	path := filepath.Join(t.TempDir(), "lock")
	start := func() *lab.Helper {
		return lab.Hold(t, exec.Command(lab.Program(t, "cmd/locksmith"), "hold", "local:"+path))
	}
	holder := start()
	holder.Held()
	waiter := start()
	lab.Eventually(t, "the waiter sleeps", func() bool { return isAsleep(waiter) })
	before := holderID(t, path)
	storm(holder)
	storm(waiter)
	if after := holderID(t, path); after != before {
		t.Errorf("before many came and went the lock was held by %s, and now by %s", before, after)
	}
	holder.Release()
	waiter.Held()
	storm(waiter)
	waiter.Release()
	mustBeEmpty(t, filepath.Dir(path))
}

func holderID(t *testing.T, path string) string {
	t.Helper()
	r, err := openLock(t, path).Read(t.Context())
	if err != nil || len(r.Holders) != 1 || r.Holders[0].Record == nil {
		t.Fatalf("Read gives %+v and the error %v, want one holder with its record", r, err)
	}
	return r.Holders[0].Record.ID
}

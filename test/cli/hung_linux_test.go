package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// hungMount is a directory on a file system that never answers.
func hungMount(t *testing.T) string {
	t.Helper()
	lab.NeedRoot(t)
	dir := t.TempDir()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err == nil {
		err = unix.Mount("hung", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", server.Fd()))
	}
	if err != nil {
		lab.Lacking(t, err.Error())
	}
	t.Cleanup(func() {
		_ = server.Close() // a process that waits for it gets an error
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestHungPlace: if the file system does not answer, --timeout, a signal and the parent's end
// still count.
func TestHungPlace(t *testing.T) {
	lab.NotShort(t, "needs root")
	t.Parallel()
	dir := hungMount(t)
	for _, kind := range []string{"local", "link", "mkdir", "nfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			lock := kind + ":" + dir + "/lock"
			locksmith(t, "run", "--timeout", "200ms", lock, "--", "true").Exits(69)
			signalled := startHung(t, lock)
			signalled.Signal(unix.SIGTERM)
			signalled.Exits(75)
			orphaned := startHung(t, lock)
			orphaned.LetGo()
			orphaned.Exits(75)
		})
	}
}

// startHung starts hold, and returns when hold waits for the file system.
func startHung(t *testing.T, lock string) *lab.Process {
	t.Helper()
	p := locksmith(t, "hold", lock)
	lab.Eventually(t, "it asks the file system", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", p.PID()))
		return slices.ContainsFunc(threads, func(path string) bool {
			where, _ := os.ReadFile(path)
			return strings.Contains(string(where), "fuse")
		})
	})
	return p
}

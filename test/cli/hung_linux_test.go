package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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
		_ = server.Close() // who waits for it gets an error
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestHungPlace: where the file system does not answer, --timeout, a signal and the
// parent's end count all the same.
func TestHungPlace(t *testing.T) {
	dir := hungMount(t)
	for _, kind := range []string{"local", "link", "mkdir", "nfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			lock := kind + ":" + dir + "/lock"
			startDeaf(t, func(*exec.Cmd) {}, "run", "--timeout", "200ms", lock, "--", "true").mustEnd(t, 69)
			signalled, _ := startHung(t, lock)
			if err := signalled.cmd.Process.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
			signalled.mustEnd(t, 75)
			orphaned, parent := startHung(t, lock)
			_ = parent.Close()
			orphaned.mustEnd(t, 75)
		})
	}
}

// startHung starts hold, and returns when it waits for the file system.
func startHung(t *testing.T, lock string) (*deaf, io.Closer) {
	t.Helper()
	var stdin io.Closer
	d := startDeaf(t, func(c *exec.Cmd) { stdin, _ = c.StdinPipe() }, "hold", lock)
	eventually(t, "it asks the file system", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", d.cmd.Process.Pid))
		return slices.ContainsFunc(threads, func(path string) bool {
			where, _ := os.ReadFile(path)
			return strings.Contains(string(where), "fuse")
		})
	})
	return d, stdin
}

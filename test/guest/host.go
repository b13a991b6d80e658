//go:build linux

package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Inside reports whether this process runs in the guest, which is the inner half of a lab.
func Inside() bool { return os.Getenv("LAB_HOSTS") != "" }

// hostInit returns the pid that the first process of host k has on the server.
func hostInit(k int) (pid int) {
	text, _ := os.ReadFile(fmt.Sprintf("/mnt/lab/h%d", k))
	_, _ = fmt.Sscan(string(text), &pid)
	return pid
}

// Proc is host k in /proc, for what a host has of its own.
func Proc(k int) string { return fmt.Sprintf("/proc/%d", hostInit(k)) }

// Path returns a path that leads to what host k has at path, through the host's caches.
func Path(k int, path string) string { return Proc(k) + "/root" + path }

// On returns a command that runs on host k. Its parent is outside of the host's pid namespace: a
// program that needs a parent inside must be started through a shell.
func On(k int, argv ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"-t", fmt.Sprint(hostInit(k)), "-n", "-u", "-i", "-p", "-m", "--"}, argv...)...)
}

// Children returns the processes whose parent is pid, whichever of its threads started them.
func Children(pid int) (all []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range threads {
		text, _ := os.ReadFile(file) // the thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

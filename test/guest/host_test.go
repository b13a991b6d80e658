//go:build linux

package guest

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// TestChildren: a child is found whichever thread started it.
func TestChildren(t *testing.T) {
	const threads = 8 // of which one at most is the first of the process
	over, started := make(chan struct{}), make(chan *exec.Cmd)
	defer close(over)
	for range threads {
		go func() {
			runtime.LockOSThread()
			cmd := exec.Command("sleep", "60")
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			started <- cmd
			<-over
		}()
	}
	for range threads {
		cmd := <-started
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		if !slices.Contains(Children(os.Getpid()), cmd.Process.Pid) {
			t.Errorf("%d is not found", cmd.Process.Pid)
		}
	}
}

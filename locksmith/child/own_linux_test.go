package child

import (
	"os/exec"
	"testing"

	"locksmith/backends/process"
)

// TestOwnProgramsAreLeftAlone: what we run for ourselves is not ended with the command's
// descendants, and nobody waits for its end.
func TestOwnProgramsAreLeftAlone(t *testing.T) {
	ours := exec.Command("sleep", "600")
	pid, err := process.Spawn(true, func() (int, error) {
		err := ours.Start()
		return ours.Process.Pid, err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = ours.Process.Kill()
		_ = ours.Wait()
		process.Reaped(pid)
	}()
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if !othersLeft() {
		t.Error("another program is not seen")
	}
	if err := signalDescendants(9); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if othersLeft() {
		t.Error("our own program counts as another's")
	}
	if state(pid) == "" {
		t.Error("our own program was ended")
	}
}

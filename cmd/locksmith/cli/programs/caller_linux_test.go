package programs

import (
	"os"
	"os/exec"
	"testing"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

func TestHasAncestor(t *testing.T) {
	parent, err := process.Find(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if !HasAncestor(parent) {
		t.Error("HasAncestor denies our parent")
	}
	if grand, ok := parentOf(parent.PID); ok && grand > 0 && !HasAncestor(process.Process{PID: grand}) {
		t.Error("HasAncestor denies our parent's parent")
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	started, err := process.Find(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	self, _ := process.Find(os.Getpid())
	for _, p := range []process.Process{{}, self, started, {PID: parent.PID, Start: parent.Start + 1}} {
		if HasAncestor(p) {
			t.Errorf("HasAncestor takes %v for an ancestor", p)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait()
}

// TestForeignProc: if /proc has other numbers than ours, others' processes do not count as ours.
func TestForeignProc(t *testing.T) {
	if lab.InForeignProc(t) && HasAncestor(process.Process{PID: 1}) {
		t.Error("HasAncestor takes the first process of another pid namespace for an ancestor")
	}
}

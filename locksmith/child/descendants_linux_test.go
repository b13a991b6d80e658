package child

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

// TestStoppedInFork: if the child of a vfork is stopped, /proc does not show the parent as
// stopped, though it is.
func TestStoppedInFork(t *testing.T) {
	pid := lab.StartC(t, `#include <signal.h>
#include <unistd.h>
int main(void) { if (vfork() == 0) { raise(SIGSTOP); _exit(0); } pause(); }
`).PID()
	itsState := func() string { return "its state is " + state(pid) }
	lab.Eventually(t, "the parent's stop is seen", func() bool { return isStoppedInFork(pid) }, itsState)
	for _, child := range childrenByParent()[pid] {
		if err := unix.Kill(child, unix.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	lab.Eventually(t, "the parent goes on", func() bool { return state(pid) == "S" }, itsState)
	if isStoppedInFork(pid) || isStoppedInFork(os.Getpid()) {
		t.Error("isStoppedInFork takes a process that runs for a stopped one")
	}
}

// TestStoppedInForeignProc: a /proc with other numbers than ours is not believed.
func TestStoppedInForeignProc(t *testing.T) {
	if lab.InForeignProc(t) && state(os.Getpid()) != "" {
		t.Error("in a foreign /proc the state of another process is taken for ours")
	}
}

// TestSignalDescendantsThere: with such a /proc all descendants get the signal, and nobody else.
func TestSignalDescendantsThere(t *testing.T) {
	if !lab.InForeignProc(t) {
		return
	}
	p := lab.Start(t, exec.Command("sh", "-c", "sleep 300 & echo $!; wait"))
	p.Line()
	self, err := process.SelfInProc()
	if err != nil {
		t.Fatal(err)
	}
	if ours := ourNumbers(self, childrenByParent()[self]); !slices.Contains(ours, p.PID()) {
		t.Errorf("our children are said to be %d, without %d", ours, p.PID())
	}
	if err := new(Command).signalDescendants(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	p.Exits(-int(unix.SIGKILL))
	if said := p.Rest(); len(said) > 0 { // its end is also the grandchild's
		t.Errorf("the command wrote %q, so its descendant outlived the kill", said)
	}
}

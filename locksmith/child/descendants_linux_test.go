package child

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

// TestStoppedInFork: the parent in a vfork whose child was stopped is not shown as
// stopped, though it is.
func TestStoppedInFork(t *testing.T) {
	cmd := lab.StartC(t, `#include <signal.h>
#include <unistd.h>
int main(void) { if (vfork() == 0) { raise(SIGSTOP); _exit(0); } pause(); }
`)
	pid := cmd.Process.Pid
	for deadline := time.Now().Add(20 * time.Second); !isStoppedInFork(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen: the parent's state is %s", state(pid))
		}
	}
	for _, child := range children()[pid] {
		if err := unix.Kill(child, unix.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); state(pid) != "S"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not go on: its state is %s", state(pid))
		}
	}
	if isStoppedInFork(pid) || isStoppedInFork(os.Getpid()) {
		t.Error("one that runs counts as stopped")
	}
}

// TestStoppedInForeignProc: where /proc has other numbers than we have, it is not believed.
func TestStoppedInForeignProc(t *testing.T) {
	if lab.InForeignProc(t) && state(os.Getpid()) != "" {
		t.Error("the state of another process is taken for ours")
	}
}

// TestSignalDescendantsThere: all descendants get the signal, and nobody else.
func TestSignalDescendantsThere(t *testing.T) {
	if !lab.InForeignProc(t) {
		return
	}
	cmd := exec.Command("sh", "-c", "sleep 300 & echo $!; wait")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	self, err := process.SelfInProc()
	if err != nil {
		t.Fatal(err)
	}
	if ours := ourNumbers(self, children()[self]); !slices.Contains(ours, cmd.Process.Pid) {
		t.Errorf("our children are %d, not %d", ours, cmd.Process.Pid)
	}
	if err := signalDescendants(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the child: %v", err)
	}
	if err := out.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Error("the grandchild lives: ", err)
	}
}

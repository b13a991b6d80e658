package process

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStoppedInFork: the parent in a vfork whose child was stopped is not shown as
// stopped, though it is.
func TestStoppedInFork(t *testing.T) {
	cmd := startC(t, `#include <signal.h>
#include <unistd.h>
int main(void) { if (vfork() == 0) { raise(SIGSTOP); _exit(0); } pause(); }
`)
	pid := cmd.Process.Pid
	for deadline := time.Now().Add(20 * time.Second); !StoppedInFork(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen: the parent's state is %s", state(pid))
		}
	}
	for _, child := range family()[pid] {
		if err := unix.Kill(child, unix.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); state(pid) != "S"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not go on: its state is %s", state(pid))
		}
	}
	if StoppedInFork(pid) || StoppedInFork(os.Getpid()) {
		t.Error("one that runs counts as stopped")
	}
}

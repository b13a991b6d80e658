package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// otherProc is the variable that makes a test go on in a pid namespace of its own, with
// the /proc of the one around it.
const otherProc = "LOCKSMITH_TEST_OTHER_PROC"

// inOtherProc reports whether we are there. Else it runs the same test there.
func inOtherProc(t *testing.T) bool {
	t.Helper()
	if os.Getenv(otherProc) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), otherProc+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	}
	said, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Errorf("there it failed:\n%s", said)
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("no pid namespace to be had: ", err)
	case err != nil:
		t.Skip("no pid namespace to be had: ", err)
	case !strings.Contains(string(said), "--- PASS"):
		t.Errorf("there it did not run:\n%s", said)
	}
	return false
}

// TestProcOfOthers: where /proc has other numbers than we have, it is not believed. The
// process that has our number there is another.
func TestProcOfOthers(t *testing.T) {
	if !inOtherProc(t) {
		return
	}
	if err := CheckProc(); !errors.Is(err, ErrNotVisible) {
		t.Errorf("CheckProc: %v", err)
	}
	self, err := Find(os.Getpid())
	if !errors.Is(err, ErrNotVisible) || self.Start != 0 {
		t.Errorf("we are %+v (%v)", self, err)
	}
	if (Process{PID: os.Getpid(), Start: 1}).Gone() {
		t.Error("who lives counts as gone, because another started at another time")
	}
	if !(Process{PID: MaxPID - 1}).Gone() {
		t.Error("who is gone is not")
	}
	if IsAncestor(Process{PID: 1}) || StoppedInFork(os.Getpid()) {
		t.Error("others' processes are taken for ours")
	}
}

// TestSignalDescendantsThere: all descendants get the signal, and nobody else.
func TestSignalDescendantsThere(t *testing.T) {
	if !inOtherProc(t) {
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
	self, err := selfInProc()
	if err != nil {
		t.Fatal(err)
	}
	if ours := ourNumbers(self, family()[self]); !slices.Contains(ours, cmd.Process.Pid) {
		t.Errorf("our children are %d, not %d", ours, cmd.Process.Pid)
	}
	if err := SignalDescendants(unix.SIGKILL); err != nil {
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

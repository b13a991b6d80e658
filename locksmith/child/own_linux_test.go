package child

import (
	"os/exec"
	"syscall"
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
	c := &Command{}
	if !c.othersLeft() {
		t.Error("another program is not seen")
	}
	if err := c.signalDescendants(9); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if c.othersLeft() {
		t.Error("our own program counts as another's")
	}
	if state(pid) == "" {
		t.Error("our own program was ended")
	}
}

// TestBystandersAreLeftAlone: who was there before the command is not ended with it, and nobody
// waits for its end; another process that has its number by then is.
func TestBystandersAreLeftAlone(t *testing.T) {
	var none Command
	if none.meetBystanders(); none.adopted {
		t.Error("somebody is seen where nobody is")
	}
	logger := start(t, "sh", "-c", "sleep 600 & echo; wait")
	c := &Command{}
	c.meetBystanders()
	if pid := logger.Process.Pid; !c.adopted || len(c.bystanders) != 2 || c.bystanders[pid] == 0 {
		t.Fatalf("adopted: %v, %v; want %d and another", c.adopted, c.bystanders, pid)
	}
	other := start(t, "sh", "-c", "echo; exec sleep 600")
	if !c.othersLeft() {
		t.Error("another program is not seen")
	}
	if err := c.signalDescendants(9); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if c.othersLeft() || state(logger.Process.Pid) == "" || state(logger.Process.Pid) == "Z" {
		t.Errorf("others are left: %v, and it is %q", c.othersLeft(), state(logger.Process.Pid))
	}
	c.bystanders[logger.Process.Pid]++
	if !c.othersLeft() {
		t.Error("another with its number counts as the bystander")
	}
}

// start starts a program that writes a line when it is ready, and ends it with the test.
func start(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

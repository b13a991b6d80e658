package child

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// TestOwnProgramsAreLeftAlone: a program that we run for ourselves is not ended with the
// command's descendants, and nobody waits for its end.
func TestOwnProgramsAreLeftAlone(t *testing.T) {
	ours := exec.Command("sleep", "600")
	if err := process.Start(ours); err != nil {
		t.Fatal(err)
	}
	pid := ours.Process.Pid
	defer func() {
		_ = ours.Process.Kill()
		_ = process.Wait(ours)
	}()
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	c := &Command{}
	if !c.anyLeft() {
		t.Error("anyLeft does not see a child that is no program of ours")
	}
	if err := c.signalDescendants(9); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if c.anyLeft() {
		t.Error("anyLeft takes our own program for the command's")
	}
	if state(pid) == "" {
		t.Error("signalDescendants ended our own program")
	}
}

// TestOwnProgramsStatus: whoever runs a program of our own is told how it ended, although the
// command's reaper waits for any child, too.
func TestOwnProgramsStatus(t *testing.T) {
	command := &Command{Argv: []string{"sleep", "600"}, Tell: func(*backend.HeldError) {}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger()}
	if err := command.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(protocol.Grant{Lock: "fake:/x"}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		command.signal(syscall.SIGKILL)
		<-command.allGone
	}()
	wrong := map[string]int{}
	for i := range 30 {
		ours := exec.Command("sh", "-c", fmt.Sprint("exit ", 3*(i%2)))
		if err := process.Start(ours); err != nil {
			t.Fatal(err)
		}
		want := []string{"<nil>", "exit status 3"}[i%2]
		if err := process.Wait(ours); fmt.Sprint(err) != want {
			wrong[fmt.Sprintf("%v, want %s", err, want)]++
		}
	}
	if len(wrong) > 0 {
		t.Errorf("of 30 programs of our own, Wait returned: %v", wrong)
	}
	if own := process.Own(); len(own) > 0 {
		t.Errorf("programs that have ended count as running: %v", own)
	}
}

// TestBystandersAreLeftAlone: a process that was there before the command is not ended with it,
// and nobody waits for its end. That does not hold for a later process with the same number.
func TestBystandersAreLeftAlone(t *testing.T) {
	var none Command
	if none.meetBystanders(); none.hadChildren {
		t.Error("meetBystanders sees a child, and we have none")
	}
	logger := start(t, "sh", "-c", "sleep 600 & echo; wait")
	c := &Command{}
	c.meetBystanders()
	if pid := logger.Process.Pid; !c.hadChildren || len(c.bystanders) != 2 || c.bystanders[pid] == 0 {
		t.Fatalf("meetBystanders: hadChildren %v, bystanders %v; want true, %d and its child", c.hadChildren, c.bystanders, pid)
	}
	other := start(t, "sh", "-c", "echo; exec sleep 600")
	if !c.anyLeft() {
		t.Error("anyLeft does not see the command's process beside a bystander")
	}
	if err := c.signalDescendants(9); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if c.anyLeft() || state(logger.Process.Pid) == "" || state(logger.Process.Pid) == "Z" {
		t.Errorf("after the command's end something is left of it: %v, want false; the bystander's state is %q, want neither empty nor Z", c.anyLeft(), state(logger.Process.Pid))
	}
	c.bystanders[logger.Process.Pid]++
	if !c.anyLeft() {
		t.Error("anyLeft takes a later process with a bystander's number for the bystander")
	}
}

// start starts a program that writes a line when it is ready. The test's end ends it.
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

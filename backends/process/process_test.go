//go:build linux || windows

package process

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

const sleeper = "LOCKSMITH_TEST_SLEEPER"

// TestSleeper is the process that others watch. It ends when the process that started it ends.
func TestSleeper(*testing.T) {
	if os.Getenv(sleeper) != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
}

func start(t *testing.T) (*exec.Cmd, Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSleeper$")
	cmd.Env = append(os.Environ(), sleeper+"=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, err := Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, p
}

func TestGone(t *testing.T) {
	cmd, p := start(t)
	if p.Gone() {
		t.Error("a running process counts as gone")
	}
	if !(Process{PID: p.PID, Start: p.Start + 1}).Gone() {
		t.Error("a pid used again does not count as gone")
	}
	exited, err := p.Exited(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
		t.Fatal("exit reported of a running process")
	case <-time.After(20 * time.Millisecond):
	}
	_ = cmd.Process.Kill()
	<-exited
	if !p.Gone() {
		t.Error("a zombie does not count as gone")
	}
	_ = cmd.Wait()
	if !p.Gone() {
		t.Error("an absent process does not count as gone")
	}
	if exited, err := p.Exited(t.Context()); err != nil {
		t.Error(err)
	} else {
		<-exited
	}
	// On Windows a pid stays while anybody, such as a watch, has a handle of it.
	var absent error
	for range 1000 {
		if _, absent = Find(p.PID); absent != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if absent == nil {
		t.Error("found an absent process")
	}
}

func TestExitedOfReusedPID(t *testing.T) {
	self, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	self.Start--
	exited, err := self.Exited(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-exited
}

func TestExitedEndsWithContext(t *testing.T) {
	_, p := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	exited, err := p.Exited(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-exited:
		t.Error("a cancelled watch reports an exit")
	case <-time.After(20 * time.Millisecond):
	}
}

func TestNoProcessIsNeverGone(t *testing.T) {
	if (Process{}).Gone() {
		t.Error("no process counts as gone, so as proof of death")
	}
}

package child

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/locksmith"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// slowProgram is a program that the kernel cannot have until ready is called: another open of its file
// has a lease.
func slowProgram(t *testing.T) (command *Command, ready func()) {
	t.Helper()
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "true")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGIO)
	file, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(file), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		_ = unix.Close(file)
		lab.Lacking(t, "no lease of a file to be had here: "+err.Error())
	}
	giveUp := time.AfterFunc(lab.Patience/2, func() { _ = unix.Close(file) }) // in case it is never done below
	ready = func() {
		if giveUp.Stop() {
			_ = unix.Close(file)
		}
	}
	t.Cleanup(ready)
	command = &Command{Argv: []string{path}, Tell: func(*backend.HeldError) {}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger()}
	if err := command.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return command, ready
}

// TestSlowProgram: while a disk does not give a program to the kernel, other goroutines of this process
// run, so that the lock is tended.
func TestSlowProgram(t *testing.T) {
	command, ready := slowProgram(t)
	started := make(chan error, 1)
	begun := time.Now()
	go func() { started <- command.Start(protocol.Grant{Lock: "fake:/x"}) }()
	for range 20 {
		time.Sleep(10 * time.Millisecond)
	}
	select {
	case err := <-started:
		t.Fatalf("the program started though the kernel could not have it: %v", err)
	default:
	}
	ready()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if late := time.Since(begun); late > lab.Patience/4 {
		t.Errorf("for %v nothing else ran in this process", late)
	}
	<-command.allGone
}

// TestSlowProgramIsStopped: a signal ends the wait for such a program.
func TestSlowProgramIsStopped(t *testing.T) {
	command, _ := slowProgram(t)
	started := make(chan error, 1)
	go func() { started <- command.Start(protocol.Grant{Lock: "fake:/x"}) }()
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	command.handle(syscall.SIGTERM)
	err := <-started
	if late := time.Since(begun); late > lab.Patience/4 {
		t.Errorf("Start returned %v after the signal", late)
	}
	if cause, ok := errors.AsType[*locksmith.SignalError](err); !ok || cause.Signal != syscall.SIGTERM {
		t.Errorf("Start returns %v, want the error of the signal", err)
	}
}

//go:build unix

package cli

import (
	"os/signal"
	"syscall"
	"testing"
)

// TestIgnoredSignal: a signal that is ignored, as under nohup, does not end us.
func TestIgnoredSignal(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	end := toEnd(syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(end)
	if !signal.Ignored(syscall.SIGUSR2) {
		t.Error("a signal that was ignored is not ignored any more")
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if s := <-end; s != syscall.SIGUSR1 {
		t.Errorf("the ignored signal arrives: %v", s)
	}
}

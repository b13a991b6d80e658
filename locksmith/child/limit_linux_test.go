package child

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/locksmith"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestLostWithoutDescriptors: a command whose lock is lost is ended even if no descriptor is left to
// look for its descendants with. Otherwise it would work on beside the next holder.
func TestLostWithoutDescriptors(t *testing.T) {
	command := &Command{Argv: []string{"sleep", "600"}, Tell: func(*backend.HeldError) {}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger()}
	if err := command.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(protocol.Grant{Lock: "fake:/x"}); err != nil {
		t.Fatal(err)
	}
	defer command.signal(syscall.SIGKILL)
	restore := lab.FewDescriptors(t, 3)
	go command.Lost(t.Context(), &locksmith.LossError{Code: protocol.Gone})
	late := false
	select {
	case <-command.ended:
	case <-time.After(lab.Patience):
		late = true
	}
	restore()
	if late {
		t.Error("the command works on after the loss of its lock")
	}
	<-command.allGone
}

// TestSeenWithoutDescriptors: nobody who cannot be looked at counts as gone, or as the command's.
func TestSeenWithoutDescriptors(t *testing.T) {
	logger := start(t, "sh", "-c", "echo; exec sleep 600")
	c := &Command{}
	c.meetBystanders()
	restore := lab.FewDescriptors(t, 3)
	_, err := allChildren()
	others := c.notBystanders([]int{logger.Process.Pid})
	restore()
	if err == nil {
		t.Error("allChildren does not say that it saw nobody")
	}
	if len(others) > 0 {
		t.Error("a process that was there before the command counts as the command's")
	}
}

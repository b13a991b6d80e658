package child

import (
	"context"
	"errors"
	"os/signal"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/locksmith"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestRareSignals: signals that seldom come are caught soon after the command has begun, and if the
// lock's place takes long to answer.
func TestRareSignals(t *testing.T) {
	for name, slow := range map[string]bool{"the command runs": false, "the place does not answer": true} {
		c := &Command{Argv: []string{"sleep", "60"}, Tell: func(*backend.HeldError) {}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger()}
		if err := c.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slow {
			if err := c.Start(protocol.Grant{Lock: "fake:/x"}); err != nil {
				t.Fatal(err)
			}
		}
		lab.Eventually(t, name+": SIGUSR1 is caught", func() bool {
			return syscall.Kill(syscall.Getpid(), syscall.SIGUSR1) == nil && c.hasGot(syscall.SIGUSR1)
		})
		cause := context.Cause(c.Context()) // the signal may have ended the command by now
		if ends := cause != nil && !errors.Is(cause, ErrEnded); ends != slow {
			t.Errorf("%s: the wish for the lock ends: %v, want %v", name, cause, slow)
		}
		if !slow && c.Status() != protocol.BySignal+int(syscall.SIGUSR1) {
			t.Errorf("%s: its status is %d, want that of SIGUSR1", name, c.Status())
		}
		signal.Stop(c.signals.caught)
	}
}

// TestEarlySignals: before the command runs, a signal may end us only if we are to become the
// command. Else the lock might stay, and a command that has just begun would be killed.
func TestEarlySignals(t *testing.T) {
	for _, becomes := range []bool{true, false} {
		c := &Command{Argv: []string{"true"}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger(), Becomes: becomes, Caught: true}
		if err := c.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGALRM, syscall.SIGXCPU} {
			var now sigaction
			if !swapAction(s, nil, &now) {
				t.Fatal("the action of a signal cannot be read")
			}
			if ends := now.handler == 0; ends != becomes {
				t.Errorf("Becomes %v: signal %v ends us: %v, want the same", becomes, s, ends)
			}
		}
		c.CatchAll()
		signal.Stop(c.signals.caught)
	}
}

// TestCalledOff: a command whose lock is lost before it has begun does not begin.
func TestCalledOff(t *testing.T) {
	c := &Command{Argv: []string{"true"}, Tell: func(*backend.HeldError) {}, Clock: clock.Runtime{}, Log: hclog.NewNullLogger()}
	if err := c.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	loss := &locksmith.LossError{Code: protocol.Gone}
	c.CallOff(loss)
	if err := c.Start(protocol.Grant{Lock: "fake:/x"}); !errors.Is(err, loss) || c.pid != 0 {
		t.Errorf("Start returns %v, and the command's pid is %d; want the loss, and no command", err, c.pid)
	}
}

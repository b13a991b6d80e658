package child

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/clock"
	"locksmith/locksmith"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// A spyClock keeps the last pause that was asked for.
type spyClock struct {
	clock.Runtime
	pause time.Duration
}

func (c *spyClock) NewTimer(d time.Duration) clock.Timer {
	c.pause = d
	return c.Runtime.NewTimer(d)
}

// TestNoTimeLeft: a command is asked to end because its time is over. When its lock is lost as
// well, it is killed at once.
func TestNoTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &spyClock{}
		command := &Command{Clock: c, Log: hclog.NewNullLogger(), ended: make(chan struct{}), allGone: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go command.Lost(ctx, &locksmith.LossError{Code: protocol.MaxHold, Left: 10 * time.Second})
		synctest.Wait()
		if c.pause != 5*time.Second {
			t.Errorf("with 10s of the lease left the command has %v to end, want 5s", c.pause)
		}
		cancel()
		synctest.Wait()
		if c.pause != killAgain {
			t.Errorf("the lock is lost as well, yet the command is not killed and has %v more", c.pause)
		}
		close(command.allGone)
	})
}

// TestLostAfterEnd: a loss that comes after the command's end ends nothing. What a command leaves
// running in the background goes on without the lock.
func TestLostAfterEnd(t *testing.T) {
	background := start(t, "sh", "-c", "echo; exec sleep 600")
	command := &Command{Clock: clock.Runtime{}, Log: hclog.NewNullLogger(), ended: make(chan struct{}), allGone: make(chan struct{})}
	close(command.ended)
	done := make(chan struct{})
	go func() {
		defer close(done)
		command.Lost(t.Context(), &locksmith.LossError{Code: protocol.Unreleased})
	}()
	select {
	case <-done:
	case <-time.After(lab.Patience):
		t.Error("Lost waits for what the command left running")
	}
	if s := state(background.Process.Pid); s == "" || s == "Z" {
		t.Errorf("the state of a process that the command left running is %q after a loss; want neither empty nor Z", s)
	}
}

// TestGrace: a command that is asked to end gets half of what is left of the lease, but at least
// a moment and at most ten seconds. That is the longest that the lock is kept for nothing.
func TestGrace(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{
		0:                      100 * time.Millisecond,
		100 * time.Millisecond: 100 * time.Millisecond,
		8 * time.Second:        4 * time.Second,
		15 * time.Second:       7500 * time.Millisecond,
		20 * time.Second:       10 * time.Second,
		time.Hour:              10 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &spyClock{}
			command := &Command{Clock: c, Log: hclog.NewNullLogger(), ended: make(chan struct{}), allGone: make(chan struct{})}
			go command.Lost(t.Context(), &locksmith.LossError{Code: protocol.Gone, Left: left})
			synctest.Wait()
			if c.pause != want {
				t.Errorf("with %v of the lease left the command has %v to end, want %v", left, c.pause, want)
			}
			close(command.allGone)
		})
	}
}

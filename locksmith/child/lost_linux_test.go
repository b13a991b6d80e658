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
)

// A spyClock knows the last pause that was asked for.
type spyClock struct {
	clock.Runtime
	pause time.Duration
}

func (c *spyClock) NewTimer(d time.Duration) clock.Timer {
	c.pause = d
	return c.Runtime.NewTimer(d)
}

// TestNoTimeLeft: a command whose time is over, and is asked to end, is killed at once when its
// lock is lost as well.
func TestNoTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &spyClock{}
		command := &Command{Clock: c, Log: hclog.NewNullLogger(), ended: make(chan struct{}), allGone: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go command.Lost(ctx, &locksmith.LossError{Code: protocol.MaxHold, Left: 10 * time.Second})
		synctest.Wait()
		if c.pause != 5*time.Second {
			t.Errorf("it has %v to end", c.pause)
		}
		cancel()
		synctest.Wait()
		if c.pause != killAgain {
			t.Errorf("it was not killed, and still has %v", c.pause)
		}
		close(command.allGone)
	})
}

// TestGrace: a command that is asked to end has half of what is left of the lease for that,
// but no less than a moment, and no more than ten seconds: so long the lock is kept for
// nothing at most.
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
				t.Errorf("with %v left it has %v to end, want %v", left, c.pause, want)
			}
			close(command.allGone)
		})
	}
}

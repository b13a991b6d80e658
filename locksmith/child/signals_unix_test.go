//go:build unix

package child

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/clock"
)

// TestEndedBy: EndedBy waits for a signal that may still come to us only if the signal is one
// that would end us.
func TestEndedBy(t *testing.T) {
	for name, c := range map[string]struct {
		died syscall.Signal
		got  []os.Signal
		want syscall.Signal
		wait time.Duration
	}{
		"seq | head":           {syscall.SIGPIPE, nil, 0, 0},
		"killed":               {syscall.SIGKILL, nil, 0, 0},
		"quit, and so were we": {syscall.SIGQUIT, []os.Signal{syscall.SIGQUIT}, 0, 0},
		"Ctrl-C":               {syscall.SIGINT, []os.Signal{syscall.SIGINT}, syscall.SIGINT, 0},
		"an alarm":             {syscall.SIGALRM, []os.Signal{syscall.SIGALRM}, syscall.SIGALRM, 0},
		"told to end alone":    {syscall.SIGTERM, nil, 0, signalDelay},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				child := &Command{Clock: clock.Runtime{}, ended: make(chan struct{}), status: waitStatus(c.died), got: c.got}
				close(child.ended)
				start := time.Now()
				if got := child.EndedBy(nil); got != c.want || time.Since(start) != c.wait {
					t.Errorf("EndedBy returns %v after %v; want %v after %v", got, time.Since(start), c.want, c.wait)
				}
			})
		})
	}
}

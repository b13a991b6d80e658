package clock

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestTimerfd: a timer makes a timerfd only if any time is left to wait for.
func TestTimerfd(t *testing.T) {
	due := func(d time.Duration) *bootTimer {
		return &bootTimer{due: Boot{}.Now() + d, c: make(chan time.Time, 1), first: time.NewTimer(time.Hour)}
	}
	waiting := due(time.Hour)
	f := waiting.arm()
	if f == nil {
		t.Fatal("no timerfd for an hour")
	}
	waiting.Stop()
	if _, err := f.Read(make([]byte, 8)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a timerfd outlives its timer: %v", err)
	}
	stopped := due(time.Hour)
	stopped.Stop()
	late := due(-time.Second)
	defer late.Stop()
	if stopped.arm() != nil || late.arm() != nil {
		t.Error("a timerfd for nothing")
	}
	if len(stopped.c) != 0 || len(late.c) != 1 {
		t.Errorf("the stopped timer fired %d times, the late one %d times", len(stopped.c), len(late.c))
	}
}

package clock

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// TestTimerfd: a timer makes a timerfd only if any time is left to wait for.
func TestTimerfd(t *testing.T) {
	due := func(d time.Duration) *bootTimer {
		return &bootTimer{due: Boot{}.Now() + d, c: make(chan time.Time, 1), timerfd: timerfd, first: time.NewTimer(time.Hour)}
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

// TestTimerfdThatCannotBeWaitedFor: a timer fires even if the kernel refuses to watch its timerfd for
// the runtime. It refuses to watch /dev/null, too.
func TestTimerfdThatCannotBeWaitedFor(t *testing.T) {
	made := 0
	unwatched := func(time.Duration) (int, error) {
		made++
		return unix.Open("/dev/null", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	d := 20 * time.Millisecond
	// On a busy machine the time may be over before the timer asks for its descriptor.
	for ; made == 0 && d < 10*time.Second; d *= 2 {
		began := Boot{}.Now()
		timer := newTimer(d, unwatched)
		defer timer.Stop()
		select {
		case <-timer.C():
			if after := (Boot{}.Now() - began); after < d {
				t.Errorf("it fired after %v, want %v or more", after, d)
			}
		case <-time.After(lab.Patience):
			t.Error("the timer never fired")
		}
	}
	if made == 0 {
		t.Error("no timer asked for a descriptor")
	}
	for inTime, d := false, 20*time.Millisecond; !inTime; d *= 2 {
		began := Boot{}.Now()
		stopped := newTimer(d, unwatched)
		time.Sleep(d / 2)
		stopped.Stop()
		inTime = Boot{}.Now()-began < d // else this machine was too busy, and the timer may have fired before
		time.Sleep(2 * d)
		if inTime && len(stopped.C()) > 0 {
			t.Error("a stopped timer fired")
		}
	}
}

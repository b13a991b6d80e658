package clock

import (
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is the Clock that counts the time since this machine was started.
type Boot struct{}

// Now implements Clock.
func (Boot) Now() time.Duration {
	var ts unix.Timespec
	// It cannot fail: CLOCK_BOOTTIME came with Linux 2.6.39, which is older than Go's oldest
	// kernel.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano())
}

// NewTimer implements Clock. A timer that comes due during a suspend fires at the resume, which a
// timer of the runtime would not (timerfd_create(2)).
func (Boot) NewTimer(d time.Duration) Timer { return newTimer(d, timerfd) }

func newTimer(d time.Duration, timerfd func(time.Duration) (int, error)) *bootTimer {
	now := Boot{}.Now()
	t := &bootTimer{due: now + min(d, math.MaxInt64-now), c: make(chan time.Time, 1), timerfd: timerfd}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first = time.AfterFunc(min(d, brief), t.wait)
	return t
}

// brief is how long a timer is left to the runtime. Most timers are stopped by then: they watch
// over calls that take less time than it takes to make a timerfd.
const brief = 2 * time.Millisecond

type bootTimer struct {
	due     time.Duration
	c       chan time.Time
	timerfd func(time.Duration) (int, error) // makes a descriptor that becomes readable after so long

	mu      sync.Mutex
	first   *time.Timer
	f       *os.File // the timerfd; nil: there is none yet
	stopped bool
}

// wait is called when the runtime's part of the time is over, which may be all of it.
func (t *bootTimer) wait() {
	f := t.arm()
	if f == nil {
		return
	}
	var count [8]byte
	if _, err := f.Read(count[:]); err == nil {
		t.c <- time.Now()
	} else {
		t.disarm()
	}
}

// disarm leaves the timer to the runtime, unless it was stopped. The kernel may refuse to wake the
// runtime for one more descriptor, so that a timerfd cannot be waited for (epoll_ctl(2), ENOSPC and
// ENOMEM).
func (t *bootTimer) disarm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	_ = t.f.Close()
	t.f = nil
	t.first.Reset(max(t.due-Boot{}.Now(), 0))
}

// arm makes the timerfd, if any time is left to wait for.
func (t *bootTimer) arm() *os.File {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.due - Boot{}.Now()
	switch {
	case t.stopped:
	case left <= 0:
		t.c <- time.Now()
	default:
		fd, err := t.timerfd(left)
		if err != nil { // out of descriptors: a timer that is late after a suspend is better than none
			t.first.Reset(left)
			break
		}
		t.f = os.NewFile(uintptr(fd), "timerfd")
	}
	return t.f
}

func timerfd(d time.Duration) (int, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(fd, 0, &spec, nil); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// C implements Timer.
func (t *bootTimer) C() <-chan time.Time { return t.c }

// Stop implements Timer.
func (t *bootTimer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.first.Stop()
	if t.f != nil {
		_ = t.f.Close()
	}
}

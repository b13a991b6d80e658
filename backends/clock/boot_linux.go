package clock

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is the Clock of this machine since it was started.
type Boot struct{}

// Now implements Clock.
func (Boot) Now() time.Duration {
	var ts unix.Timespec
	// It cannot fail: CLOCK_BOOTTIME is older (Linux 2.6.39) than Go's oldest kernel.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano())
}

// NewTimer implements Clock. A timer that comes due during a suspend fires at
// the resume, which a runtime timer would not (timerfd_create(2)).
func (Boot) NewTimer(d time.Duration) Timer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return Runtime{}.NewTimer(d) // out of descriptors: late after a suspend beats never
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(d), 1))}
	if err := unix.TimerfdSettime(fd, 0, &spec, nil); err != nil {
		_ = unix.Close(fd)
		return Runtime{}.NewTimer(d)
	}
	t := &bootTimer{f: os.NewFile(uintptr(fd), "timerfd"), c: make(chan time.Time, 1)}
	go t.wait()
	return t
}

type bootTimer struct {
	f *os.File
	c chan time.Time
}

func (t *bootTimer) wait() {
	var count [8]byte
	if _, err := t.f.Read(count[:]); err == nil {
		t.c <- time.Now()
	}
}

func (t *bootTimer) C() <-chan time.Time { return t.c }
func (t *bootTimer) Stop()               { _ = t.f.Close() }

//go:build darwin || freebsd || netbsd || openbsd

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads the clock of the system that sinceBootClock names.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(sinceBootClock, &ts) // it cannot fail: every version has this one
	return time.Duration(ts.Nano())
}

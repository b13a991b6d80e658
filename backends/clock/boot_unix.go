//go:build unix && !linux

package clock

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBootClock is the system's clock that never steps and, where there is one, goes on
// during a suspend, as on macOS and OpenBSD (clock_gettime(2)). On the others a holder
// learns at its next heartbeat after a suspend that it was broken, and not before.
func sinceBootClock() int32 {
	switch runtime.GOOS {
	case "darwin":
		return 4 // CLOCK_MONOTONIC_RAW; Go's own timers go by one that stands still
	case "openbsd":
		return 6 // CLOCK_BOOTTIME
	case "freebsd":
		return 4 // CLOCK_MONOTONIC
	}
	return 3 // CLOCK_MONOTONIC of NetBSD
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(sinceBootClock(), &ts); err != nil {
		return Runtime{}.Now()
	}
	return time.Duration(ts.Nano())
}

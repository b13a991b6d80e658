//go:build unix && !linux

package clock

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBootClock is the system's clock that never steps. On macOS and OpenBSD it also goes on
// during a suspend (clock_gettime(2)). On the others a holder that was broken during a suspend
// learns it at its next heartbeat, and not before.
func sinceBootClock() int32 {
	switch runtime.GOOS {
	case "darwin":
		return 4 // CLOCK_MONOTONIC_RAW; the clock of Go's own timers stands still
	case "openbsd":
		return 6 // CLOCK_BOOTTIME
	case "freebsd":
		return 4 // CLOCK_MONOTONIC
	}
	return 3 // CLOCK_MONOTONIC on NetBSD
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(sinceBootClock(), &ts); err != nil {
		return Runtime{}.Now()
	}
	return time.Duration(ts.Nano())
}

package clock

import "golang.org/x/sys/unix"

// sinceBootClock continues while the system is asleep, and is "unaffected by frequency
// or time adjustments" (clock_gettime(3)); CLOCK_UPTIME_RAW, which Go's own timers
// go by, does not continue.
const sinceBootClock = unix.CLOCK_MONOTONIC_RAW

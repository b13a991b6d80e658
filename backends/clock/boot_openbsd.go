package clock

import "golang.org/x/sys/unix"

// sinceBootClock counts the time that the machine is suspended, which CLOCK_UPTIME
// leaves out (clock_gettime(2)).
const sinceBootClock = unix.CLOCK_BOOTTIME

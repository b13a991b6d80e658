// Package clock is the one clock that leases and timeouts count by.
//
// Boot reads CLOCK_BOOTTIME where there is one: it never steps, and it goes on
// while the machine is suspended, as everybody else's patience does
// (clock_gettime(2)). Its zero means nothing; only differences do.
package clock

import "time"

// A Clock tells time and waits.
type Clock interface {
	// Now returns the time since a fixed but unknown moment.
	Now() time.Duration
	// NewTimer returns a timer that fires once, d from now.
	NewTimer(d time.Duration) Timer
}

// A Timer fires once.
type Timer interface {
	// C receives when the timer fires.
	C() <-chan time.Time
	// Stop frees the timer, fired or not.
	Stop()
}

// Runtime is a Clock on the Go runtime's monotonic time. It stands still
// during a suspend; under testing/synctest it is the bubble's fake time.
type Runtime struct{}

// The monotonic clock has no zero of its own in Go.
var epoch = time.Now()

// Now implements Clock.
func (Runtime) Now() time.Duration { return time.Since(epoch) }

// NewTimer implements Clock.
func (Runtime) NewTimer(d time.Duration) Timer { return runtimeTimer{time.NewTimer(d)} }

type runtimeTimer struct{ t *time.Timer }

func (t runtimeTimer) C() <-chan time.Time { return t.t.C }
func (t runtimeTimer) Stop()               { t.t.Stop() }

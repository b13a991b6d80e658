package owner

import (
	"strconv"
	"time"

	"locksmith/backends/clock"
)

// Bounds of a lease. Below them, heartbeats would compete with scheduling noise. Above them, a
// holder that vanished would block everybody for longer than anyone waits.
const (
	MinLease = time.Second
	MaxLease = 366 * 24 * time.Hour
)

// UsualLease is the lease of most kinds of locks, if nobody says how long it is.
const UsualLease = time.Minute

// IsLease reports whether a lease may be so long.
func IsLease(d time.Duration) bool { return d >= MinLease && d <= MaxLease }

// ParseLease reads a lease in milliseconds, as it stands in names.
func ParseLease(digits string) (lease time.Duration, ok bool) {
	ms, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || ms < MinLease.Milliseconds() || ms > MaxLease.Milliseconds() {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// BeatsEvery is how long after a heartbeat the next one is due, at the latest. So one that fails
// leaves time for others before the lease is over.
func BeatsEvery(lease time.Duration) time.Duration { return lease / 4 }

// WholeLease is how long a holder must be seen silent. It is 1 % more than the lease, because
// clocks run at unequal rates: by then the lease is over by the holder's own clock, too.
func WholeLease(lease time.Duration) time.Duration { return lease + lease/100 }

// WholeBeat is how long one must watch a holder that lives to see a heartbeat.
func WholeBeat(lease time.Duration) time.Duration { return BeatsEvery(lease) + lease/100 }

// LeftOver is how old the last sign of life of a waiter may be, by the clock of the lock's place.
// What is older is left over and may be removed, so every waiter beats more often than that.
func LeftOver(lease time.Duration) time.Duration { return 2 * lease }

// A Pulse is the heartbeats of something of our own, by our own clock.
type Pulse struct {
	Clock clock.Clock
	Lease time.Duration
	// Confirmed is when the last request was sent that showed the others that we live.
	Confirmed time.Duration
}

// Overdue reports that we were silent for a lease. Somebody may have decided to remove what is
// ours, and do so later: it must not be used any more. The others wait for WholeLease, by their
// clocks.
func (p *Pulse) Overdue() bool { return p.Clock.Now()-p.Confirmed >= p.Lease }

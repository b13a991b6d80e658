package watch

import (
	"math"
	"time"

	"locksmith/backends/clock"
)

// Never is the time to wait for what waiting does not bring.
const Never = time.Duration(math.MaxInt64)

// A Rule is one ground on which something may be broken: it is dead by proof, or
// its sign of life was the same for a whole lease. After the verdict a grace must pass
// and the sign be the same still.
type Rule struct {
	Dead  bool          // by proof
	Lease time.Duration // 0: silence is no ground
	Grace time.Duration // after the verdict, then look again
}

// A timer is the staleness timer of one rule for one thing. It watches one sign of
// life at a time; any change starts it again.
type timer struct {
	clock   clock.Clock
	sign    string
	since   time.Duration // the sign was first seen
	verdict time.Duration // the verdict fell, if dead
	dead    bool
}

// start begins a watch after the first look.
func start(c clock.Clock, sign string) timer {
	return timer{clock: c, sign: sign, since: c.Now()}
}

// due takes what was just seen: a sign of life (any text that changes with holder and
// heartbeat), and the rule as it is now. It returns how long the same must still be
// seen before the thing may be broken: 0 means now, Never that only another event can
// help.
//
// before is a reading of the clock from before the look. What was seen is as old as
// that: a process may be paused for an hour between its look and the next step.
// A watch begins after its first look, and ends before its last.
func (t *timer) due(before time.Duration, sign string, r Rule) time.Duration {
	if sign != t.sign {
		*t = start(t.clock, sign)
	}
	if !t.dead {
		left := t.leaseLeft(before, r.Lease)
		switch {
		case !r.Dead && left == Never:
			return Never
		case !r.Dead && left > 0:
			return later(left, r.Grace)
		}
		t.dead, t.verdict = true, t.clock.Now()
	}
	if r.Grace <= 0 {
		return 0
	}
	return max(later(t.verdict-before, r.Grace), 0)
}

// leaseLeft is a whole lease plus 1 % for clocks that run at unequal rates.
func (t *timer) leaseLeft(now, lease time.Duration) time.Duration {
	if lease <= 0 {
		return Never
	}
	return max(t.since+lease+lease/100-now, 0)
}

// later adds without overflow.
func later(d, grace time.Duration) time.Duration {
	if d > 0 && grace > Never-d {
		return Never
	}
	return d + grace
}

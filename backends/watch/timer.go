package watch

import (
	"math"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// Never is how long to wait for what waiting alone will not bring.
const Never = time.Duration(math.MaxInt64)

// A Rule is one ground on which something may be broken: its owner is proven dead, or its
// sign of life did not change for a whole lease. After that verdict it must stay unchanged
// for a period of grace.
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

// due takes the rule as it is now, after a look that showed the sign that is watched. It
// returns how long that must still be seen before the thing may be broken: 0 means now,
// Never that only another event can help.
//
// before is a reading of the clock from before the look, and what was seen may be as old
// as that: a process may be paused for an hour between its look and the next step.
// A watch begins after its first look, and ends before its last.
func (t *timer) due(before time.Duration, r Rule) time.Duration {
	if !t.dead {
		left := t.leaseLeft(before, r.Lease)
		switch {
		case r.Dead:
			t.verdict = t.clock.Now()
		case left == Never:
			return Never
		case left > 0:
			return later(left, r.Grace)
		default:
			t.verdict = before + left
		}
		t.dead = true
	}
	if r.Grace <= 0 {
		return 0
	}
	return max(later(t.verdict-before, r.Grace), 0)
}

// leaseLeft is what is left of a whole lease; less than 0: it was over so long ago.
func (t *timer) leaseLeft(now, lease time.Duration) time.Duration {
	if lease <= 0 {
		return Never
	}
	return t.since + owner.WholeLease(lease) - now
}

// later is d + grace without overflow.
func later(d, grace time.Duration) time.Duration {
	if d > 0 && grace > Never-d {
		return Never
	}
	return d + grace
}

package watch

import (
	"math"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// Never is how long to wait where waiting alone does not help.
const Never = time.Duration(math.MaxInt64)

// A Rule is one ground on which something may be broken: its owner is proven dead, or its sign
// of life did not change for a whole lease. After that verdict the sign must stay unchanged for
// a period of grace.
type Rule struct {
	Dead  bool          // proven
	Lease time.Duration // 0: silence is no ground
	Grace time.Duration // after the verdict; then look again
}

// A timer measures for one rule how long one thing showed the same sign of life. Any change of
// the sign starts it again.
type timer struct {
	clock   clock.Clock
	sign    string
	since   time.Duration // when the sign was first seen
	verdict time.Duration // when the verdict fell, if dead
	dead    bool
}

// due is called after a look that showed the sign that is watched, with the rule as it is now. It
// returns for how long that sign must still be seen before the thing may be broken. 0 means now.
// Never means that only another event helps.
//
// before is a reading of the clock from before the look. What was seen may be as old as that,
// because a process may be paused for an hour between its look and its next step. So a watch
// begins after its first look, and ends before its last.
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
	//rule:grace
	if r.Grace <= 0 {
		return 0
	}
	return max(later(t.verdict-before, r.Grace), 0)
}

// leaseLeft returns what is left of a whole lease. If that is less than 0, it says how long ago
// the lease was over.
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

package owner

import (
	"math"
	"time"

	"locksmith/backends/clock"
)

// Never is the time to wait for what waiting does not bring.
const Never = time.Duration(math.MaxInt64)

// Patience decides when a silent holder may be broken. It watches one sign of
// life at a time; any change, and any look that failed (Forget), starts the
// watch again.
type Patience struct {
	Clock   clock.Clock
	Strict  bool          // break by proof only, never by lease
	Respite time.Duration // wait this much more after the verdict and look again

	sign    string
	since   time.Duration // the sign was first seen
	verdict time.Duration // the verdict fell, if dead
	dead    bool
}

// Look takes what was just seen: a sign of life (any text that changes with
// holder and heartbeat), whether the holder is dead by proof, and its lease (0:
// it has none). It returns how long the same must still be seen before the
// holder may be broken: 0 means now, Never that only another event can help.
//
// before is a reading of Clock from before the look. What was seen is as old as
// that: a process may be paused for an hour between its look and the next step.
// A watch begins after its first look, and ends before its last.
func (p *Patience) Look(before time.Duration, sign string, proof bool, lease time.Duration) time.Duration {
	if sign != p.sign {
		*p = Patience{Clock: p.Clock, Strict: p.Strict, Respite: p.Respite, sign: sign, since: p.Clock.Now()}
	}
	if !p.dead {
		left := p.leaseLeft(before, lease)
		switch {
		case !proof && left == Never:
			return Never
		case !proof && left > 0:
			return later(left, p.Respite)
		}
		p.dead, p.verdict = true, p.Clock.Now()
	}
	if p.Respite <= 0 {
		return 0
	}
	return max(later(p.verdict-before, p.Respite), 0)
}

// leaseLeft is a whole lease plus 1 % for clocks that run at unequal rates.
func (p *Patience) leaseLeft(now, lease time.Duration) time.Duration {
	if p.Strict || lease <= 0 {
		return Never
	}
	return max(p.since+lease+lease/100-now, 0)
}

// later adds without overflow.
func later(d, respite time.Duration) time.Duration {
	if d > 0 && respite > Never-d {
		return Never
	}
	return d + respite
}

// Forget starts the watch again: what was seen is not known any more.
func (p *Patience) Forget() { p.sign, p.dead = "", false }

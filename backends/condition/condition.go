// Package condition says what is so with somebody who has a lock or waits for it. Whatever is said
// or done about that follows from one State, which Of finds from the evidence that a kind of lock
// gives: the messages and exit statuses of tries, status, list, metrics, break and reap.
package condition

import (
	"cmp"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A Condition is a row of the table. What could not be seen at all has no row: it is no holder, but a
// backend.Report with Unseen, or an error, and both are always told.
type Condition string

// The conditions.
const (
	Alive    Condition = "alive"     // proven to live, or its sign of life is not older than usual
	Stopped  Condition = "stopped"   // it lives, but it or its command is stopped
	Late     Condition = "late"      // it missed a heartbeat, and its lease is not over
	Lapsed   Condition = "lapsed"    // its lease is over, and nothing tells whether it lives
	Dead     Condition = "dead"      // proven, and whoever comes next takes the lock
	NotOurs  Condition = "not ours"  // dead, but only its owner may remove what is left
	LeftOver Condition = "left over" // its helper is gone, and what it guarded may still run
	Foreign  Condition = "foreign"   // only a person frees the lock: nobody is known to hold it
	Empty    Condition = "empty"     // what is there says nothing, and may be ours, half made
	Unknown  Condition = "unknown"   // nothing tells at one look whether it lives
)

// A State is all that is known.
type State struct {
	Condition Condition
	Proven    bool          // it is proven to live
	Old       time.Duration // the age of its last sign of life, at least; 0: not known
	Late      bool          // Old is more than it may be
	Over      bool          // Old is more than its lease, too
	watched   bool          // it was seen silent for its lease by our own clock, and nobody breaks it for that
	byPlace   bool          // Old is by the clock of the lock's place
	kernel    bool          // the kernel keeps the lock, and no lease counts
	long      bool          // no sign of it has an age, but it has had the lock for longer than its lease, or the usual one
	verdict   owner.Verdict
}

// Of finds the state of somebody.
func Of(h backend.Holder) State {
	s := ofSigns(h)
	switch {
	case h.Verdict == owner.Dead && h.Blocked:
		s.Condition = NotOurs
	case h.Verdict == owner.Dead:
		s.Condition = Dead
	case h.Blocked:
		s.Condition = Foreign
	case h.Verdict == owner.Orphaned:
		s.Condition = LeftOver
	case s.Proven && h.Record != nil && h.Record.Stopped() != nil:
		s.Condition = Stopped
	case s.Proven:
		s.Condition = Alive
	case h.ID == "" && h.Record == nil && h.PID == 0 && h.Who == "" && !h.OfKernel:
		s.Condition = Empty
	case s.watched, s.Over:
		s.Condition = Lapsed
	case s.Late:
		s.Condition = Late
	case h.Lease > 0 && s.Old > 0:
		s.Condition = Alive
	}
	return s
}

// ofSigns is the state as far as no process need be looked at for it.
func ofSigns(h backend.Holder) State {
	s := State{Condition: Unknown, Proven: h.Verdict == owner.Alive, Old: max(h.Heartbeat, h.Silent), watched: h.Overdue, byPlace: h.ByPlace, kernel: h.OfKernel, verdict: h.Verdict}
	s.long = s.Old == 0 && h.Age > cmp.Or(h.Lease, owner.UsualLease)
	s.Late = h.Lease > 0 && s.Old > h.LateAfter()
	s.Over = s.Late && s.Old > h.Lease
	return s
}

// IsAmiss reports that its verdict tells of trouble.
func (s State) IsAmiss() bool {
	return s.IsDead() || s.Condition == LeftOver || s.Condition == Stopped
}

// IsDead reports that it is proven dead.
func (s State) IsDead() bool { return s.Condition == Dead || s.Condition == NotOurs }

// IsBlocked reports that nothing frees the lock by itself: a person must.
func (s State) IsBlocked() bool { return s.Condition == NotOurs || s.Condition == Foreign }

// Verdict is the word for it in status, in JSON, in --where and in metrics.
func (s State) Verdict() string {
	if s.Condition == Stopped {
		return string(Stopped)
	}
	return string(s.verdict)
}

// isStuck reports that no try that does not wait is ever going to find the lock free.
func (s State) isStuck() bool {
	switch s.Condition {
	case Stopped:
		return s.Over || s.long
	case LeftOver:
		return s.Over || s.kernel
	case Lapsed, Empty: // a lease is what one of ours may need to say whose it is
		return s.watched || s.Over && s.byPlace
	}
	return s.IsBlocked()
}

// IsStuck reports that nothing is going to free the lock, however often somebody tries it for a
// moment. Only a person can, or somebody who waits for a whole lease. A job that leaves it at that
// never runs again, so it is told even if only news were to be told. If any of several locks would do,
// nothing frees any of them.
func IsStuck(e *backend.HeldError) bool {
	if e.Obstacle != nil || e.Queued || e.Yielding {
		return false
	}
	h := e.Holder
	if s := ofSigns(h); s.Proven && !s.Over && !s.long { // as most are: whether they are stopped does not matter then
		return false
	}
	return Of(h).isStuck() && !slices.ContainsFunc(e.Others, func(o *backend.HeldError) bool { return !IsStuck(o) })
}

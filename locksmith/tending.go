package locksmith

import (
	"locksmith/backends/clock"
)

// tend leaves the backend some of the time until the next heartbeat for its
// housekeeping. One that hangs goes on beside us, and nobody waits for it once
// the lock is not wanted any more.
func (t *tenure) tend() {
	if t.isTending() || t.isResting() {
		return
	}
	ctx, cancel := clock.WithTimeout(t.wanted(), t.clock(), t.every/4)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- t.hold.Tend(ctx) }()
	err, ok := clock.Await(ctx, t.clock(), min(t.every/4, answerTime), done)
	if !ok {
		t.tending, err = done, errNoAnswer
	}
	t.restAfter(ctx.Err() != nil && t.wanted().Err() == nil)
	if err != nil {
		t.helper.Log.Debug("housekeeping failed", "lock", t.helper.Address, "error", err)
	}
}

// maxRest is how many heartbeats there are at most between two calls of Tend.
const maxRest = 64

// restAfter makes housekeeping rarer that is cut off again and again: on a slow
// server every cut may cost the connection, which the heartbeats need.
func (t *tenure) restAfter(cut bool) {
	if !cut {
		t.rest = 0
		return
	}
	t.idle, t.rest = t.rest, min(2*max(t.rest, 1), maxRest)
}

// isResting reports whether this call is to be left out.
func (t *tenure) isResting() bool {
	if t.idle == 0 {
		return false
	}
	t.idle--
	return true
}

// isTending reports whether a Tend still hangs.
func (t *tenure) isTending() bool {
	select {
	case <-t.tending:
		t.tending = nil
	default:
	}
	return t.tending != nil
}

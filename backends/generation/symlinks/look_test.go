//go:build unix

package symlinks

import (
	"slices"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// TestInspectBesideHandover: a lock goes from hand to hand before each call of a look in turn, at
// once or with a call in between. The second holder has waited all the while. The look must name
// one of the two as a holder.
func TestInspectBesideHandover(t *testing.T) {
	for _, mode := range modes() {
		for gap := range 2 {
			for call, over := 1, false; !over; call++ {
				inBubble(t, func(t *testing.T, m *memory) { over = handOver(t, m, mode, call, gap) })
			}
		}
	}
}

// handOver hands over before a call of the look; over: the look has no such call.
func handOver(t *testing.T, m *memory, mode string, call, gap int) (over bool) {
	first, next := newHost("first", m).take(t, mode), newHost("next", m).queue(t, "exclusive")
	var second *hold
	calls := 0
	r, err := newHost("reader", hooked(m, func(o faulty.Call) error {
		if calls++; calls == call {
			mustRelease(t, first)
		}
		if calls == call+gap {
			second = mustAcquire(t, next)
		}
		return o.Do()
	})).lock().Read(t.Context())
	backendtest.MustWork(t, err)
	if second == nil {
		return true
	}
	seen := func(h backend.Holder) bool { return h.ID == first.ID() || h.ID == second.ID() }
	if !slices.ContainsFunc(r.Holders, seen) {
		t.Errorf("%s: handed over before call %d of the look, in %d steps: holders %+v, waiters %+v", mode, call, gap+1, r.Holders, r.Waiters)
	}
	mustRelease(t, second)
	return false
}

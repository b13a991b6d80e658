//go:build unix

package symlinks

import (
	"context"
	"sync/atomic"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/watch"
)

// maxOld bounds the time that one release spends on what others left.
const maxOld = 100

// A hold is a reservation that the newest generation points to, or a member of
// a shared one.
type hold struct {
	generation.Held
	claim  *claim
	old    generation.Numbers // the generations there were
	others watch.Others[spot] // for Tend only
	next   string             // where Tend goes on
	gone   atomic.Bool
}

var _ backend.Hold = (*hold)(nil)

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(ctx context.Context) error {
	err := h.claim.lock.Dir.Touch(ctx, h.claim.path())
	switch {
	case err == nil:
		return nil
	case gone(err):
		h.gone.Store(true)
		h.claim.bell.Ring()
		_ = h.claim.lock.Dir.Unlink(ctx, h.claim.ticket.record()) // nobody else's business
		return generation.Lost(h.claim.lock.Address, "refresh our reservation")
	}
	return h.claim.lock.touchError(err)
}

// Release implements backend.Hold. That our reservation is not there may be our
// own doing, if an answer was lost; it is a loss only if somebody else has had
// the lock since.
func (h *hold) Release(ctx context.Context) error {
	l := h.claim.lock
	err := l.remove(ctx, h.claim.in, h.claim.ticket)
	switch {
	case absent(err):
		if err := h.succeeded(ctx); err != nil {
			return err
		}
	case err != nil:
		return l.Fail("remove our reservation "+h.claim.path(), err)
	}
	h.claim.bell.Ring()
	_ = l.Dir.Unlink(ctx, h.claim.ticket.record()) // what is left is removed by who tends the lock
	h.removeOld(ctx)
	return nil
}

// succeeded returns ErrGone if there is a generation after ours, or if a heartbeat has
// found our reservation gone.
func (h *hold) succeeded(ctx context.Context) error {
	l := h.claim.lock
	if err := l.probe(ctx, h.claim.ticket); err != nil {
		return err
	}
	all, _, err := l.list(ctx)
	if err != nil {
		return err
	}
	if all.Newest() != h.Number || h.gone.Load() {
		_ = l.Dir.Unlink(ctx, h.claim.ticket.record())
		return generation.Lost(l.Address, "remove our reservation")
	}
	return nil
}

// removeOld is step 9. What cannot be removed is left to the next.
func (h *hold) removeOld(ctx context.Context) {
	h.old.RemoveOld(h.Number, maxOld, func(n uint64) error {
		_ = h.claim.lock.Dir.Unlink(ctx, lockName(n))
		return nil
	})
}

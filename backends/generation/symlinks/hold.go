//go:build unix

package symlinks

import (
	"context"
	"sync/atomic"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
)

// maxOld bounds the time that one release spends on what others left.
const maxOld = 100

// A hold is a reservation that the newest generation points to, or a member of
// a shared one.
type hold struct {
	generation.Held[spot, *claim]
	next string // where Tend goes on
	gone atomic.Bool
}

var _ backend.Hold = (*hold)(nil)

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(ctx context.Context) error {
	err := h.Mine.lock.Dir.Touch(ctx, h.Mine.path())
	switch {
	case err == nil:
		return nil
	case gone(err):
		h.gone.Store(true)
		h.Mine.bell.Ring()
		_ = h.Mine.lock.Dir.Unlink(ctx, h.Mine.ticket.record()) // nobody else's business
		return generation.Lost(h.Mine.lock.Address, "refresh our reservation")
	}
	return h.Mine.lock.touchError(err)
}

// Release implements backend.Hold. If our reservation is not there, we may have removed it
// ourselves, and the answer was lost. It is a loss only if somebody else has had the lock since.
func (h *hold) Release(ctx context.Context) error {
	l := h.Mine.lock
	err := l.remove(ctx, h.Mine.in, h.Mine.ticket)
	switch {
	case absent(err):
		if err := h.succeeded(ctx); err != nil {
			return err
		}
	case err != nil:
		return l.Fail("remove our reservation "+h.Mine.path(), err)
	}
	h.Mine.bell.Ring()
	_ = l.Dir.Unlink(ctx, h.Mine.ticket.record()) // whoever tends the lock removes what is left
	h.removeOld(ctx)
	return nil
}

// succeeded returns ErrGone if there is a generation after ours, or if a heartbeat has
// found our reservation gone.
func (h *hold) succeeded(ctx context.Context) error {
	l := h.Mine.lock
	if err := l.probe(ctx, h.Mine.ticket); err != nil {
		return err
	}
	all, _, err := l.list(ctx)
	if err != nil {
		return err
	}
	if all.Newest() != h.Number || h.gone.Load() {
		_ = l.Dir.Unlink(ctx, h.Mine.ticket.record())
		return generation.Lost(l.Address, "remove our reservation")
	}
	return nil
}

// removeOld is step 9. What it cannot remove is left to the next holder.
func (h *hold) removeOld(ctx context.Context) {
	h.Old.RemoveOld(h.Number, generation.Kept, maxOld, func(n uint64) error {
		_ = h.Mine.lock.Dir.Unlink(ctx, lockName(n))
		return nil
	})
}

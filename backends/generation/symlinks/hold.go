//go:build unix

package symlinks

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
)

// maxOld bounds the time that one release spends on what others left.
const maxOld = 100

// A hold is a reservation that the newest generation points to, or a member of
// a shared one.
type hold struct {
	generation.Held[spot, *claim]
	next    string        // where Tend goes on
	keepAt  time.Duration // when Tend sets times again (keep)
	gone    atomic.Bool
	leaving bool // a request that removes our reservation was sent
	removes bool // after the release the lock is removed
}

var _ backend.Hold = (*hold)(nil)

// Heartbeat implements backend.Hold. Our reservation alone proves nothing: if somebody has removed
// our generation, the next locker makes one, whatever reservations there are.
func (h *hold) Heartbeat(ctx context.Context) error {
	const op = "refresh our reservation"
	err := h.Mine.lock.Dir.Touch(ctx, h.Mine.path())
	switch {
	case err == nil:
		//rule:generation
		return h.named(ctx, op)
	//rule:gone
	case gone(err):
		return h.lost(ctx, op)
	}
	return h.Mine.lock.touchError(err)
}

// named returns ErrGone if our generation is not there, or is somebody else's.
func (h *hold) named(ctx context.Context, op string) error {
	l := h.Mine.lock
	switch link, err := l.Dir.ReadlinkNow(ctx, lockName(h.Number)); {
	case err == nil && link == h.Mine.in.link():
		return nil
	case err == nil, gone(err), errors.Is(err, unix.EINVAL): // EINVAL: what is there is no link
		return h.lost(ctx, op)
	default:
		return l.Fail("read our generation", err)
	}
}

// lost removes what is left of a lost hold, and is nobody else's business.
func (h *hold) lost(ctx context.Context, op string) error {
	l := h.Mine.lock
	h.gone.Store(true)
	_ = l.remove(ctx, h.Mine.in, h.Mine.ticket)
	h.Mine.bell.Ring()
	_ = l.Dir.Unlink(ctx, h.Mine.ticket.record())
	return generation.Lost(l.Address, op)
}

// Release implements backend.Hold. If our reservation is not there, we may have removed it
// ourselves, and the answer was lost. It is a loss only if somebody else has had the lock since.
func (h *hold) Release(ctx context.Context) error {
	const op = "remove our reservation"
	l := h.Mine.lock
	//rule:look
	if !h.leaving {
		if err := h.named(ctx, op); err != nil {
			return err
		}
	}
	h.leaving = true
	//rule:remove
	err := l.remove(ctx, h.Mine.in, h.Mine.ticket)
	switch {
	//rule:gone
	case absent(err):
		if err := h.succeeded(ctx); err != nil {
			return err
		}
	case err != nil:
		return l.Fail(op+" "+h.Mine.path(), err)
	}
	h.Mine.bell.Ring()
	_ = l.Dir.Unlink(ctx, h.Mine.ticket.record()) // whoever tends the lock removes what is left
	h.removeOld(ctx)
	if !h.removes {
		l.rest(false)
	}
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
		return h.lost(ctx, "remove our reservation")
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

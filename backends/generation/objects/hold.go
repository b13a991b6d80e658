package objects

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/tokens"
)

// maxOld bounds the requests that one release spends on what others left.
const maxOld = 20

// A hold is a reservation that the newest generation names.
type hold struct {
	generation.Held[ticket, *claim]
	tended  int  // how often Tend was called
	leaving bool // a request that removes our reservation was sent
}

var _ backend.Hold = (*hold)(nil)

// Heartbeat implements backend.Hold. A reservation that somebody removed may be there again, if
// a request was executed twice. So there must also be no next generation. A next one that was
// there and was removed as old was removed after ours. So ours must be there, too.
func (h *hold) Heartbeat(ctx context.Context) error {
	const op = "refresh our reservation"
	switch err := h.Mine.refresh(ctx); {
	case errors.Is(err, generation.ErrBroken):
		return h.gone(ctx, op)
	case err != nil:
		return err
	}
	return h.held(ctx, op)
}

// held looks whether the lock still is ours.
func (h *hold) held(ctx context.Context, op string) error {
	l := h.Mine.lock
	//rule:reservation
	_, err := l.sure(ctx, h.Mine.ticket.reservation())
	if err == nil {
		//rule:next
		_, _, err = l.Store.Get(ctx, generationKey(h.Number+1)) // mostly there is none, and a look would not prove it
		switch {
		case err == nil:
			err = ErrAbsent
		//rule:no-next
		case absent(err):
			//rule:own
			err = h.named(ctx)
		}
	}
	switch {
	case absent(err):
		return h.gone(ctx, op)
	case err != nil:
		return l.fail(op, err)
	}
	return nil
}

// named returns ErrAbsent if our generation was removed as old, though one of its number may
// be there again: somebody who was stopped for long may make it, before it sees newer ones.
func (h *hold) named(ctx context.Context) error {
	_, content, err := h.Mine.lock.Store.Get(ctx, generationKey(h.Number))
	//rule:whose
	if err == nil && string(content) != h.Mine.ticket.String() {
		err = ErrAbsent
	}
	return err
}

// gone removes what is left of a lost hold, and is nobody else's business.
func (h *hold) gone(ctx context.Context, op string) error {
	_ = h.Mine.lock.remove(ctx, h.Mine.ticket)
	return generation.Lost(h.Mine.lock.Address, op)
}

// Release implements backend.Hold. If it is called again after an answer was lost, that our
// reservation is gone is no loss: we removed it ourselves.
func (h *hold) Release(ctx context.Context) error {
	const op = "remove our reservation"
	l := h.Mine.lock
	//rule:look
	if !h.leaving {
		if err := h.held(ctx, op); err != nil {
			return err
		}
	}
	h.leaving = true
	//rule:delete
	if err := l.Store.Delete(ctx, h.Mine.ticket.reservation()); err != nil {
		return l.fail(op, err)
	}
	if h.Mine.beats > 0 {
		_ = l.Store.Delete(ctx, h.Mine.ticket.beat()) // whoever tends the lock removes what is left
	}
	l.removeOld(ctx, h.Old, h.Number)
	return nil
}

// removeOld removes generations before one that was ours.
func (l *Lock) removeOld(ctx context.Context, old tokens.Numbers, ours uint64) {
	old.RemoveOld(ours, generation.Kept, maxOld, func(n uint64) error { return l.Store.Delete(ctx, generationKey(n)) })
}

package objects

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/shelf"
)

var _ backend.Remover = (*Lock)(nil)

// Remove implements backend.Remover. The newest generation stays, an object of some bytes:
// fencing tokens never start again. Without it a locker that has just read its number would make
// the next one, while others begin with the first. Both would hold the lock, and nothing that a
// store offers can bar that.
func (l *Lock) Remove(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	v, err := l.list(ctx)
	if err == nil {
		err = l.forget(ctx, v, h)
	}
	if err := errors.Join(err, h.Release(ctx)); err != nil {
		return err
	}
	for _, n := range v.numbers {
		//rule:older
		if n < h.Number {
			if err := l.Store.Delete(ctx, generationKey(n)); err != nil {
				return l.fail("remove an old generation", err)
			}
		}
	}
	return nil
}

// forget removes what tells of earlier holders, unless somebody else has come for the lock.
func (l *Lock) forget(ctx context.Context, v view, h *hold) error {
	for _, p := range v.queue {
		if p.ticket != h.Mine.ticket {
			return generation.InUse(l.Address)
		}
	}
	return shelf.Forget(ctx, &slips{lock: l}, v.slips)
}

package objects

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A Lock is the objects of one prefix. It has the methods of a backend.Backend except List and
// Examine: those belong to the bucket.
type Lock struct {
	owner.Env
	Store   Store
	Address backend.Name // for messages
}

var _ backend.Locker = (*Lock)(nil)

// fail gives a failed request what it was for.
func (l *Lock) fail(op string, err error) error { return l.Address.Fail(op, err, nil) }

// remove removes all that carries a ticket, the reservation first, because its end is the end of
// the hold.
func (l *Lock) remove(ctx context.Context, t ticket) error {
	if err := l.Store.Delete(ctx, t.reservation()); err != nil {
		return l.fail("remove a reservation", err)
	}
	if err := l.Store.Delete(ctx, t.beat()); err != nil {
		return l.fail("remove a heartbeat", err)
	}
	return nil
}

// NewestToken is the method of backend.Backend.
func (l *Lock) NewestToken(ctx context.Context) (uint64, error) {
	v, err := l.list(ctx)
	return v.numbers.Newest(), err
}

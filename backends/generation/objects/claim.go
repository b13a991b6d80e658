package objects

import (
	"context"
	"errors"
	"strconv"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
)

// A claim is our reservation.
type claim struct {
	generation.Claim
	lock   *Lock
	ticket ticket
	beats  uint64 // how many heartbeats were sent
}

// reserve makes our reservation if we have none.
func (a *attempt) reserve(ctx context.Context) error {
	if a.Mine != nil {
		return nil
	}
	r, text, err := backend.Signed(a.lock.Address, a.lock.Env, a.Request.Owner, owner.Record.Format)
	if err != nil {
		return err
	}
	t := ticket{at: max(r.Acquired.UnixMicro(), 0), lease: r.Lease, id: r.ID}
	if err := a.mayRemove(ctx, t); err != nil {
		return err
	}
	a.Mine = &claim{Claim: generation.NewClaim(a.Request.Clock, t.lease, t.id, text), lock: a.lock, ticket: t}
	err = a.lock.Store.Put(ctx, t.reservation(), []byte(text))
	if err == nil {
		return nil
	}
	//rule:spoiled
	a.Mine.Spoiled = true // whatever becomes of it, or did, it is not ours any more
	if unclear(err) {
		return errors.Join(generation.ErrBroken, err)
	}
	return a.lock.fail("make a reservation", err)
}

// mayRemove asks once whether we may remove objects, before we make any. Without that right our
// reservation would stay, and we would learn of it only at the release, after the work. It removes
// an object that nobody has made, so nothing changes.
func (a *attempt) mayRemove(ctx context.Context, t ticket) error {
	if a.allowed {
		return nil
	}
	if err := a.lock.Store.Delete(ctx, t.trial()); err != nil {
		return a.lock.mayNot(err)
	}
	a.allowed = true
	return nil
}

// mayNot is the error of mayRemove. Only the question failed, and nothing is to be removed.
func (l *Lock) mayNot(err error) error {
	if e, ok := errors.AsType[*backend.Error](err); ok {
		first := *e
		first.Op = firstRequest
		return &first
	}
	return l.fail(firstRequest, err)
}

const firstRequest = "ask whether the lock could be released"

// refresh is a heartbeat: it tells the others that we live. Heartbeats with equal contents would
// look alike.
func (c *claim) refresh(ctx context.Context) error {
	return c.Refresh(ctx, func(ctx context.Context) error {
		c.beats++
		//rule:put
		if err := c.lock.Store.Put(ctx, c.ticket.beat(), []byte(strconv.FormatUint(c.beats, 10)+" "+c.ticket.id+"\n")); err != nil {
			return c.lock.fail("write a heartbeat", err)
		}
		return nil
	})
}

// Remove implements generation.Reservation.
func (c *claim) Remove(ctx context.Context) error { return c.lock.remove(ctx, c.ticket) }

// Beat implements generation.Reservation.
func (c *claim) Beat(ctx context.Context) error {
	if err := c.refresh(ctx); err != nil {
		return err
	}
	return c.present(ctx)
}

// present returns generation.ErrBroken if the reservation is gone.
func (c *claim) present(ctx context.Context) error {
	_, err := c.lock.sure(ctx, c.ticket.reservation())
	switch {
	case absent(err):
		return generation.ErrBroken
	case err != nil:
		return c.lock.fail("look at our reservation", err)
	}
	return nil
}

var _ backend.Attempt = (*attempt)(nil)

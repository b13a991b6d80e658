package objects

import (
	"context"
	"errors"
	"strconv"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// A claim is our reservation.
type claim struct {
	lock   *Lock
	clock  clock.Clock
	ticket ticket
	record string // who we are
	beats  uint64 // how many heartbeats were sent
	// proven is when the last request was sent that told the others that we live.
	proven time.Duration
	// spoiled: the request that makes it had no answer, or one that removes it was sent.
	spoiled bool
}

// reserve makes our reservation if we have none that serves.
func (a *attempt) reserve(ctx context.Context) error {
	if a.placed() {
		return nil
	}
	if err := a.withdraw(ctx); err != nil {
		return err
	}
	t := ticket{at: max(a.lock.Today().UnixMicro(), 0), lease: a.request.Owner.Lease, id: a.lock.NewID()}
	if err := a.mayRemove(ctx, t); err != nil {
		return err
	}
	r := a.request.Owner
	r.ID, r.Acquired = t.id, a.lock.Today()
	text, err := r.Format()
	if err != nil {
		return a.lock.Address.Usage("write owner record", err.Error(), "shorten the metadata")
	}
	a.mine = &claim{lock: a.lock, clock: a.request.Clock, ticket: t, record: text, proven: a.request.Clock.Now()}
	err = a.lock.Store.Put(ctx, t.reservation(), []byte(text))
	if err == nil {
		return nil
	}
	a.mine.spoiled = true // whatever becomes of it, or did: it is none of ours any more
	if unclear(err) {
		return errors.Join(errBroken, err)
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

// mayNot is the error of mayRemove. What failed is the question, and nothing is to be removed.
func (l *Lock) mayNot(err error) error {
	if e, ok := errors.AsType[*backend.Error](err); ok {
		first := *e
		first.Op = firstRequest
		return &first
	}
	return l.fail(firstRequest, err)
}

const firstRequest = "ask whether the lock could be released"

// placed reports that we have a reservation, which is our place in the queue.
func (a *attempt) placed() bool { return a.mine != nil && !a.mine.spoiled }

// withdraw removes what is left of our reservation; the next has a new ticket. Without an
// answer it may be removed later, and must not be the holder's by then.
func (a *attempt) withdraw(ctx context.Context) error {
	if a.mine == nil {
		return nil
	}
	a.mine.spoiled = true
	err := a.lock.remove(ctx, a.mine.ticket)
	if err == nil {
		a.mine = nil
	}
	return err
}

// refresh is a heartbeat: it tells the others that we live. Equal contents would look alike.
// errBroken means that we were silent for so long that somebody may have decided to remove
// our reservation, and will do so.
func (c *claim) refresh(ctx context.Context) error {
	before, sent := c.proven, c.clock.Now()
	c.beats++
	if err := c.lock.Store.Put(ctx, c.ticket.beat(), []byte(strconv.FormatUint(c.beats, 10)+" "+c.ticket.id+"\n")); err != nil {
		return c.lock.fail("write a heartbeat", err)
	}
	c.proven = sent
	if c.clock.Now()-before >= c.ticket.lease {
		return errBroken
	}
	return nil
}

// present returns errBroken if the reservation is gone.
func (c *claim) present(ctx context.Context) error {
	_, err := c.lock.sure(ctx, c.ticket.reservation())
	switch {
	case absent(err):
		return errBroken
	case err != nil:
		return c.lock.fail("look at our reservation", err)
	}
	return nil
}

var _ backend.Attempt = (*attempt)(nil)

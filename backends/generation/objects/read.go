package objects

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// Read is the method of backend.Backend. It changes nothing, and bears that everything changes
// while it looks.
func (l *Lock) Read(ctx context.Context) (backend.Report, error) {
	return generation.Calmly(ctx, l.Address, "look at the lock", func() (backend.Report, error) { return l.inspect(ctx) })
}

func (l *Lock) inspect(ctx context.Context) (backend.Report, error) {
	v, err := l.list(ctx)
	if err != nil {
		return backend.Report{}, err
	}
	r := backend.Report{Token: v.numbers.Newest(), Queued: true, Stays: v.stays}
	shelf.Tell(ctx, &slips{lock: l, seen: &v}, &r, l.Today())
	var holder ticket
	if r.Token > 0 {
		if holder, err = l.target(ctx, r.Token); err != nil {
			return backend.Report{}, err
		}
	}
	for _, p := range v.queue {
		h, err := l.holder(ctx, v, p)
		switch {
		case absent(err) && p.ticket == holder:
			return backend.Report{}, backend.ErrAgain // it has let go since the listing: somebody may have the lock by now
		case absent(err):
		case err != nil:
			return backend.Report{}, l.fail("look at a reservation", err)
		case p.ticket == holder:
			sinceWhen(&h, v, l.Today())
			r.Holders = append(r.Holders, h)
		default:
			r.Waiters = append(r.Waiters, h)
		}
	}
	if len(r.Holders) == 0 && len(r.Waiters) > 0 {
		err = l.mustBeNewest(ctx, r.Token)
	}
	return r, err
}

// mustBeNewest makes sure that nobody has got the lock since the listing in which n was the newest
// generation. Else whoever has it now was taken for a waiter.
func (l *Lock) mustBeNewest(ctx context.Context, n uint64) error {
	v, err := l.list(ctx)
	if err == nil && v.numbers.Newest() != n {
		err = backend.ErrAgain
	}
	return err
}

// holder is the locker that made a listed reservation, for people.
func (l *Lock) holder(ctx context.Context, v view, p place) (backend.Holder, error) {
	o, content, err := l.Store.Get(ctx, p.ticket.reservation())
	if err != nil {
		return backend.Holder{}, err
	}
	s := l.seen(p.ticket, v.sign(p))
	s.Record, s.Note = owner.RecordOf(p.ticket.id, string(content))
	s.Verdict = l.Verdict(s.Record)
	h := s.HolderThere(l.Today(), o.Now)
	h.Entry = p.ticket
	return h, nil
}

// Strike is the method of backend.Backend. It removes what has the ticket; the holder learns it at
// its next heartbeat.
func (l *Lock) Strike(ctx context.Context, h backend.Holder) error {
	//rule:named
	t, ok := h.Entry.(ticket)
	if !ok {
		return backend.ErrGone
	}
	switch _, err := l.sure(ctx, t.reservation()); {
	case absent(err):
		return backend.ErrGone
	case err != nil:
		return l.fail(h.BreakOp(), err)
	}
	return l.remove(ctx, t)
}

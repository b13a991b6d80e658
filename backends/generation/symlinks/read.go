//go:build unix

package symlinks

import (
	"context"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/generation"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// Read is the method of backend.Backend. It changes nothing, and bears that everything changes
// while it looks.
func (l *Lock) Read(ctx context.Context) (backend.Report, error) {
	return used(ctx, l, func(l *Lock) (backend.Report, error) {
		return generation.Calmly(ctx, l.Address, "look at the lock", func() (backend.Report, error) { return l.inspect(ctx) })
	})
}

func (l *Lock) inspect(ctx context.Context) (backend.Report, error) {
	names, err := l.look(ctx, Generations)
	if absent(err) {
		_, err := l.Dir.Look(ctx, ".")
		return backend.Report{Shelved: true, Stays: err == nil}, nil // never used
	}
	if err != nil {
		return backend.Report{}, l.Fail("list generations", err)
	}
	all, err := l.parse(names)
	if err != nil {
		return backend.Report{}, err
	}
	i := inspection{lock: l, others: watch.NewOthers(backend.Request{Clock: clock.Boot{}}, l.see)}
	i.report.Token, i.report.Queued, i.report.Stays = all.Newest(), true, true
	if i.report.Token > 0 {
		if i.target, err = l.target(ctx, i.report.Token); err != nil {
			return backend.Report{}, err
		}
	}
	if err := i.reservations(ctx); err != nil {
		return backend.Report{}, err
	}
	if len(i.report.Holders) == 0 && i.queued {
		if err := i.mustBeNewest(ctx); err != nil {
			return backend.Report{}, err
		}
	}
	for n := range i.report.Holders {
		l.sinceWhen(ctx, &i.report.Holders[n], i.report.Token)
	}
	return i.report, nil
}

// An inspection is one look at everything.
type inspection struct {
	lock   *Lock
	others watch.Others[spot]
	target entry // of the newest generation
	queued bool  // somebody else has a reservation
	report backend.Report
}

// mustBeNewest makes sure that nobody has got the lock since the look at its generations. Else
// whoever has it now was taken for a waiter.
func (i *inspection) mustBeNewest(ctx context.Context) error {
	names, err := i.lock.look(ctx, Generations)
	if err != nil {
		return i.lock.Fail("list generations", err)
	}
	all, err := i.lock.parse(names)
	if err == nil && all.Newest() != i.report.Token {
		err = backend.ErrAgain
	}
	return err
}

func (i *inspection) reservations(ctx context.Context) error {
	names, err := i.lock.look(ctx, Reservations)
	if err != nil && !absent(err) {
		return i.lock.Fail("list reservations", err)
	}
	seen := append([]shelf.Slip{}, slipsIn(names, i.report.Token)...)
	shelf.Tell(ctx, &slips{lock: i.lock, seen: seen}, &i.report, i.lock.Today())
	var entries []entry
	for _, name := range names {
		if e, ok := parseEntry(name); ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(x, y entry) int { return x.ticket.compare(y.ticket) })
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		i.queued = i.queued || e != i.target
		if err := i.entry(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (i *inspection) entry(ctx context.Context, e entry) error {
	switch {
	case e == i.target && e.kind == shared:
		err := i.members(ctx, e)
		if err == nil && len(i.report.Holders) == 0 {
			err = i.members(ctx, e) // one may have gone, and another come behind the place that the listing had reached
		}
		return err
	case e == i.target:
		return i.see(ctx, &i.report.Holders, e, e.ticket)
	case e.kind == shared:
		return nil // an older generation, about to be removed
	}
	return i.see(ctx, &i.report.Waiters, e, e.ticket)
}

func (i *inspection) members(ctx context.Context, e entry) error {
	names, err := i.lock.names(ctx, e.path())
	if err != nil && !absent(err) {
		return i.lock.Fail("list members", err)
	}
	for _, name := range names {
		t, ok := parseTicket(name)
		if !ok {
			i.report.Holders = append(i.report.Holders, backend.Holder{Note: "not one of ours: " + backend.Quoted(name), Blocked: true})
			continue
		}
		if err := i.see(ctx, &i.report.Holders, e, t); err != nil {
			return err
		}
	}
	return nil
}

// see adds what a ticket has, if it still is there.
func (i *inspection) see(ctx context.Context, to *[]backend.Holder, e entry, t ticket) error {
	s, err := i.others.Look(ctx, spot{e.of(t), t})
	switch {
	case absent(err):
		return nil
	case err != nil:
		return i.lock.Fail("look at a reservation", err)
	}
	h := s.Holder(i.lock.Today())
	h.Entry = seat{e, t}
	*to = append(*to, h)
	return nil
}

// A seat is what Strike removes: what a ticket has.
type seat struct {
	in     entry
	ticket ticket
}

// sinceWhen corrects the age of a holder of generation n.
func (l *Lock) sinceWhen(ctx context.Context, h *backend.Holder, n uint64) {
	if made, err := l.Dir.Look(ctx, lockName(n)); err == nil {
		generation.SinceWhen(h, made.Modified, l.Today())
	}
}

// Strike is the method of backend.Backend. It removes what a ticket has; the holder learns it at its
// next heartbeat.
func (l *Lock) Strike(ctx context.Context, h backend.Holder) error {
	x, ok := h.Entry.(seat)
	if !ok {
		return backend.ErrGone
	}
	_, err := used(ctx, l, func(l *Lock) (struct{}, error) {
		err := l.remove(ctx, x.in, x.ticket)
		if absent(err) {
			return struct{}{}, backend.ErrGone
		}
		if err == nil {
			err = l.Dir.Unlink(ctx, x.ticket.record())
		}
		if err != nil && !absent(err) {
			return struct{}{}, l.Fail(h.BreakOp(), err)
		}
		return struct{}{}, nil
	})
	return err
}

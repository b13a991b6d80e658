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

// Inspect implements backend.Backend. It changes nothing, and bears that everything changes
// while it looks.
func (l *Lock) Inspect(ctx context.Context) (backend.Report, error) {
	return used(ctx, l, func(l *Lock) (backend.Report, error) {
		return generation.Calmly(ctx, l.Address, "look at the lock", func() (backend.Report, error) { return l.inspect(ctx) })
	})
}

func (l *Lock) inspect(ctx context.Context) (backend.Report, error) {
	names, err := l.look(ctx, Generations)
	if absent(err) {
		return backend.Report{}, nil // never used
	}
	if err != nil {
		return backend.Report{}, l.Fail("list generations", err)
	}
	all, err := l.parse(names)
	if err != nil {
		return backend.Report{}, err
	}
	i := inspection{lock: l, others: watch.NewOthers(backend.Request{Clock: clock.Boot{}}, l.see)}
	i.report.Token, i.report.Queued = all.Newest(), true
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
		return i.see(ctx, &i.report.Holders, e.path(), e.ticket)
	case e.kind == shared:
		return nil // an older generation, about to be removed
	}
	return i.see(ctx, &i.report.Waiters, e.own(), e.ticket)
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
		if err := i.see(ctx, &i.report.Holders, e.member(t), t); err != nil {
			return err
		}
	}
	return nil
}

// see adds what is at a path, if it still is there.
func (i *inspection) see(ctx context.Context, to *[]backend.Holder, path string, t ticket) error {
	s, err := i.others.Look(ctx, spot{path, t})
	switch {
	case absent(err):
		return nil
	case err != nil:
		return i.lock.Fail("look at a reservation", err)
	}
	*to = append(*to, s.Holder(i.lock.Today()))
	return nil
}

// sinceWhen corrects the age of a holder of generation n.
func (l *Lock) sinceWhen(ctx context.Context, h *backend.Holder, n uint64) {
	if made, err := l.Dir.Look(ctx, lockName(n)); err == nil {
		generation.SinceWhen(h, made.Modified, l.Today())
	}
}

// Break ends an acquisition, as backend.Backend has it. It removes what carries the id, and nothing
// else; the holder learns it at its next heartbeat.
func (l *Lock) Break(ctx context.Context, id string) error {
	_, err := used(ctx, l, func(l *Lock) (struct{}, error) { return struct{}{}, l.strike(ctx, id) })
	return err
}

func (l *Lock) strike(ctx context.Context, id string) error {
	names, err := l.look(ctx, Reservations)
	if err != nil && !absent(err) {
		return l.Fail("list reservations", err)
	}
	removed := false
	for _, name := range names {
		e, ok := parseEntry(name)
		if !ok {
			continue
		}
		found, err := l.breakIn(ctx, e, id)
		if err != nil {
			return l.Fail("break "+id, err)
		}
		removed = removed || found
	}
	if !removed {
		return l.Address.NoSuch("break " + backend.Quoted(id))
	}
	return nil
}

// breakIn removes what has the id in one reservation.
func (l *Lock) breakIn(ctx context.Context, e entry, id string) (found bool, err error) {
	tickets := []ticket{e.ticket}
	if e.kind != exclusive {
		names, err := l.names(ctx, e.path())
		if err != nil && !absent(err) {
			return false, err
		}
		tickets = nil
		for _, name := range names {
			if t, ok := parseTicket(name); ok {
				tickets = append(tickets, t)
			}
		}
	}
	for _, t := range tickets {
		if t.id != id {
			continue
		}
		err := l.remove(ctx, e, t)
		if err != nil {
			return false, ignoreAbsent(err)
		}
		return true, ignoreAbsent(l.Dir.Unlink(ctx, t.record()))
	}
	return false, nil
}

func ignoreAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}
